/** A user moves between organisations under calls, and the gateway is killed meanwhile: each call is charged once, in one of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { changeHolder } from "../../src/accounts/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { createAccounts } from "../kit/accounts.ts";
import {
  chatPath,
  engines,
  expectCleanAudit,
  type Gateway,
  gatedBody,
  type GatedUpstream,
  letLeasesLapse,
  oneCredit,
  oneCreditACall,
  postChat,
  query,
  sharedPostgres,
  startGatedUpstream,
  startGateway,
  storageOn,
  until,
} from "../kit/index.ts";

const MOVES = 4;
const ann = { kind: "user", name: "ann" } as const;

let upstream: GatedUpstream;
beforeAll(() => {
  upstream = startGatedUpstream();
});
afterAll(() => upstream.stop());
const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let place: { storage?: string };
  let gateway: Gateway;
  let tokens: string[];

  const start = (more: { folder?: string } = {}): Promise<Gateway> =>
    startGateway({
      ...place,
      ...more,
      providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } },
      config: { ...oneCreditACall, upstream: { retries: 0 } },
    });

  beforeAll(async () => {
    place = await storageOn(engine, postgres);
    gateway = await start();
    tokens = [];
    for (let count = 0; count < 2; count += 1)
      tokens.push(await gateway.token({ user: "ann", organisation: "acme", credits: 0n }));
    for (const organisation of ["acme", "beta"]) {
      await gateway.cli("organisation", "create", organisation);
      await gateway.cli("credits", "grant", "--organisation", organisation, "--amount", "100000");
    }
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(gateway.folder, { recursive: true, force: true });
  });

  const call = (token: string | undefined, model: string): Promise<Response> =>
    postChat(gateway, token ?? "", gatedBody(model, { max_tokens: 10 }));

  /** The credits that each organisation has spent. */
  async function spent(): Promise<{ acme: number; beta: number }> {
    const accounts = await openLedgerStore(gateway.storage).listAccounts(Date.now());
    const of = (id: string): number =>
      Number((accounts.find((each) => each.id === id)?.debitsPosted ?? 0n) / oneCredit);
    return { acme: of("organisation:acme"), beta: of("organisation:beta") };
  }

  /** Waits until the gateway has read the tokens again. */
  const isKnown = (organisation: string): Promise<unknown> =>
    until("the gateway knows", async () => {
      const info = await fetch(`${gateway.url}/v1/user/info`, { headers: { authorization: `Bearer ${tokens[0]}` } });
      return (await info.text()).includes(`"${organisation}"`);
    });

  test("calls that are open end in the old organisation, and the next ones with the same secrets are the new one's", async () => {
    const model = `held-${engine}-moving`;
    const open = Array.from({ length: 10 }, (_, index) => call(tokens[index % 2], model));
    await until("all calls wait", () => upstream.received(model).length === 10);
    const moved = await gateway.cli(
      "user",
      "move",
      "ann",
      "--organisation",
      "beta",
      "--reason",
      "another team",
      "--json",
    );
    expect(JSON.parse(moved.stdout)).toMatchObject({ id: "ann", organisation: "beta", spend: 0 });
    await isKnown("beta");
    for (const token of tokens) expect((await call(token, "open")).status).toBe(200);
    upstream.release(model);
    for (const answer of await Promise.all(open)) expect(answer.status).toBe(200);
    await until("all are charged", async () => (await openLedgerStore(gateway.storage).openHolds()).length === 0);
    expect(await spent()).toEqual({ acme: 10, beta: 2 });
    await expectCleanAudit(gateway);
  });

  test("a call that is open meanwhile is found by its retry key, and charged once", async () => {
    const [before, model] = [await spent(), `held-${engine}-retried`];
    const keyed = (): Promise<Response> =>
      fetch(`${gateway.url}${chatPath}`, {
        method: "POST",
        headers: { authorization: `Bearer ${tokens[0]}`, "idempotency-key": `moving-${engine}` },
        body: JSON.stringify(gatedBody(model, { max_tokens: 10 })),
      });
    const open = keyed();
    await until("the call waits", () => upstream.received(model).length === 1);
    for (const organisation of ["acme", "beta"]) {
      await gateway.cli("user", "move", "ann", "--organisation", organisation, "--reason", "another team");
      await isKnown(organisation);
      const early = await keyed();
      expect([early.status, ((await early.json()) as { error: { code: string } }).error.code]).toEqual([
        409,
        "idempotency_key_in_use",
      ]);
    }
    upstream.release(model);
    const [first, again] = [await (await open).text(), await keyed()];
    expect([again.status, again.headers.get("idempotent-replayed"), await again.text()]).toEqual([200, "true", first]);
    const after = await spent();
    expect(after.acme + after.beta - before.acme - before.beta).toBe(1);
    expect(upstream.received(model)).toHaveLength(1);
    // The new organisation does not permit its model.
    await gateway.cli("organisation", "set", "beta", "--models", "openai/none");
    await until("the model is refused", async () => (await call(tokens[0], "open")).status === 404);
    expect(await (await keyed()).text()).toBe(first);
    await gateway.cli("organisation", "set", "beta", "--models", "*");
    await until("the model is permitted", async () => (await call(tokens[0], "open")).status === 200);
  });

  test("there and back under load with a kill: no charge is lost, none is double, and the books balance", async () => {
    const before = await spent();
    const answered = new Set<string>();
    const callUntilCut = async (token: string): Promise<void> => {
      for (;;) {
        const answer = await call(token, "open").catch(() => undefined);
        const text = await answer?.text().catch(() => undefined);
        if (answer === undefined || text === undefined || !text.endsWith("}")) return;
        expect(answer.status).toBe(200);
        answered.add(answer.headers.get("x-request-id") ?? "");
      }
    };
    const load = [...tokens, ...tokens].map(callUntilCut);
    const environment = { clock: Date.now, randomBytes: (size: number) => randomBytes(size) };
    const deps = createAccounts(gateway.storage, environment, "cli:test");
    for (let move = 0; move < MOVES; move += 1) {
      const enough = answered.size + 15;
      await until("calls are answered", () => answered.size >= enough);
      const organisation = move % 2 === 0 ? "acme" : "beta";
      await changeHolder(deps, ann, { organisation });
      if (move < MOVES - 1) await isKnown(organisation);
    }
    gateway.process.kill("SIGKILL");
    await Promise.all(load);
    await gateway.process.exited;
    await gateway.stop({ keepFolder: true });
    gateway = await start({ folder: gateway.folder });
    await until("no hold is left", async () => {
      await letLeasesLapse(gateway.storage);
      return (await openLedgerStore(gateway.storage).openHolds()).length === 0;
    });
    const charged = await query<{ id: string; amount: bigint }>(
      gateway.storage,
      "SELECT id, amount FROM entries WHERE kind <> 'grant' AND amount > 0",
    );
    const ids = new Set(charged.map(({ id }) => id.slice(0, 29)));
    expect(ids.size).toBe(charged.length);
    expect([...answered].filter((id) => !ids.has(id))).toEqual([]);
    const after = await spent();
    expect(after.acme + after.beta).toBe(charged.length);
    expect([after.acme > before.acme, after.beta > before.beta]).toEqual([true, true]);
    for (const token of tokens) expect((await call(token, "open")).status).toBe(200);
    await until("nothing is held", async () => (await openLedgerStore(gateway.storage).openHolds()).length === 0);
    await expectCleanAudit(gateway);
    expect((await gateway.cli("audit", "verify")).code).toBe(0);
  });
});
