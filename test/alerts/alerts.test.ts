/** Alerts of two nodes on one storage: each opening is one message, whatever happens to the nodes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { verified, WebhookReceiver } from "../../src/webhooks/__fixtures__/receiver.ts";
import {
  flatPrice,
  type Gateway,
  postChat,
  query,
  sharedPostgres,
  startGatedUpstream,
  startTwoNodes,
  until,
} from "../kit/index.ts";

const CALLS = 1_000;
const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;

const postgres = sharedPostgres();
interface Body {
  type: string;
  data: { rule: string; account: string; threshold: number | null; value: number | string; node: string };
}

describe("two nodes", () => {
  const upstream = startGatedUpstream();
  let nodes: [Gateway, Gateway];
  let isHanging = false;
  const hung = Promise.withResolvers<void>();
  const receiver = new WebhookReceiver(async () => {
    if (isHanging) await hung.promise;
    return new Response();
  });
  const configured = {
    providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "k" } },
    pricing: { models: { "*": flatPrice } },
    alerts: {
      channels: { ops: { kind: "webhook", url: receiver.url, secret: SECRET } },
      every: "200ms",
      rules: { nodes_differ: { after: "100ms" } },
    },
  };
  beforeAll(async () => {
    upstream.release();
    const { providers, ...config } = configured;
    nodes = await startTwoNodes({ storage: await postgres.createDatabase(), providers, config });
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await upstream.stop();
    receiver[Symbol.dispose]();
  });

  const bodies = (): Body[] => receiver.received.map((each) => verified(each, SECRET) as Body);

  /** Lets one node read other prices. */
  const reprice = ({ configFile, process: { pid } }: Gateway, price: object): void => {
    writeFileSync(configFile, stringify({ ...configured, pricing: { models: { "*": price } } }));
    process.kill(pid, "SIGHUP");
  };
  const differ = (type: string): Promise<Body> =>
    until(`${type} of nodes that differ`, () =>
      bodies().find((body) => body.type === type && body.data.rule === "nodes_differ"),
    );

  test("nodes with different prices: an alert, and its end; doctor, nodes and the readiness show them", async () => {
    const [one, other] = nodes;
    const ready = async (token?: string): Promise<unknown> => {
      const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
      return (await fetch(`${other.url}/health/ready`, { headers: headers ?? {} })).json();
    };
    reprice(one, { input_mtok: 100, output_mtok: 200 });
    expect((await differ("alert.opened")).data).toMatchObject({ rule: "nodes_differ", value: "prices" });
    // A difference of a minute; this makes that time pass.
    await query(one.storage, "UPDATE nodes SET fingerprint_at = 1");
    const [owner, member] = [await one.token({ user: "boss", role: "owner" }), await one.token({ user: "worker" })];
    const [listed, doctor] = await Promise.all([one.cli("nodes", "--json"), one.cli("doctor")]);
    const { nodes: shown, differences } = JSON.parse(listed.stdout) as {
      nodes: { fingerprint: Record<string, string> }[];
      differences: string[];
    };
    expect([shown.length, new Set(shown.map(({ fingerprint }) => fingerprint["prices"])).size, differences]).toEqual([
      2,
      2,
      ["prices"],
    ]);
    expect(doctor.stdout).toMatch(/!! +nodes +.* have different prices/);
    expect(await ready(owner)).toMatchObject({ status: "ready", nodes: [{}, {}], differences: ["prices"] });
    for (const token of [undefined, member, "tg_no_such"]) expect(await ready(token)).toEqual({ status: "ready" });
    reprice(one, flatPrice);
    await differ("alert.closed");
    expect(await ready(owner)).toMatchObject({ differences: [] });
    expect(bodies().map(({ type }) => type)).toEqual(["alert.opened", "alert.closed"]);
  });

  test("a budget that 1,000 calls cross, with one node killed before it has sent: one message a threshold", async () => {
    const [one, other] = nodes;
    isHanging = true;
    receiver.received.length = 0;
    // Each call costs 7,000 nano-credits: all of them come to 87 % of the budget.
    const token = await one.token({ user: "spender", maxBudget: 8_000n * BigInt(CALLS), period: "monthly" });
    const body = { model: "openai/m", max_tokens: 2, messages: [{ role: "user", content: "hi" }] };
    const call = async (number: number): Promise<number> => {
      const answer = await postChat(number % 2 === 0 ? one : other, token, body);
      await answer.text();
      return answer.status;
    };
    for (let from = 0; from < CALLS; from += 20)
      expect(new Set(await Promise.all(Array.from({ length: 20 }, (__, index) => call(from + index))))).toEqual(
        new Set([200]),
      );
    const openAlerts = (): Promise<{ id: string; threshold: bigint }[]> =>
      query(
        one.storage,
        "SELECT id, threshold FROM alerts WHERE rule = 'budget' AND opened_at IS NOT NULL ORDER BY threshold",
      );
    await until("both thresholds are noted", async () => (await openAlerts()).length === 2);
    const sending = await until("a node sends", async () => {
      const leased =
        "SELECT lease_node FROM jobs WHERE kind = 'alert' AND id LIKE 'alert\\_%' ESCAPE '\\' AND lease_node IS NOT NULL";
      return (await query<{ lease_node: string }>(one.storage, leased))[0];
    });
    const [killed, alive] = sending.lease_node.endsWith(`:${one.process.pid}`) ? [one, other] : [other, one];
    killed.process.kill("SIGKILL");
    await killed.process.exited;
    isHanging = false;
    hung.resolve();
    // A lease is a minute long; this makes that time pass.
    await query(alive.storage, `UPDATE jobs SET lease_until = 1 WHERE lease_node LIKE '%:${killed.process.pid}'`);
    await until("nothing waits to be sent", async () => {
      const waiting = "SELECT id FROM jobs WHERE kind = 'alert' AND id LIKE 'alert\\_%' ESCAPE '\\'";
      return (await query(alive.storage, waiting)).length === 0;
    });
    const alerts = await openAlerts();
    expect(alerts.map(({ threshold }) => threshold)).toEqual([50n, 80n]);
    // A message whose node was killed before it had its answer comes again, with the same id.
    expect(new Set(receiver.received.map(({ id }) => id))).toEqual(
      new Set(alerts.map(({ id }) => `alert_${id}_opened`)),
    );
    expect(bodies().length).toBeLessThanOrEqual(alerts.length * 2);
    const [{ data } = { data: undefined }] = bodies();
    expect(data).toMatchObject({
      rule: "budget",
      account: expect.stringMatching(/^token:/) as string,
      node: expect.any(String) as string,
    });
    // Every rule could be checked on this engine.
    expect(nodes.map((node) => node.log()).join("")).not.toContain("can't be checked");
  });
});
