/** Scrapes and maps are paid like every call: held, settled once, released if they fail, whatever happens in between. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import {
  type Caller,
  creditsText,
  engines,
  expectCharged,
  expectCleanAudit,
  expectSpent,
  generationOf,
  letLeasesLapse,
  oneCredit,
  post,
  type Rig,
  sharedPostgres,
  spentBy,
  startGateway,
  startRig,
  storageOn,
  until,
} from "../kit/index.ts";
import { webPlace } from "../../src/web/index.ts";
import { startTarget, type Target } from "./target.ts";

/** A page costs 0.001 credits, and so does a map. */
const PAGE = oneCredit / 1_000n;

let target: Target;
let rig: Rig;
beforeAll(async () => {
  target = startTarget();
  rig = await startRig({
    config: {
      pricing: { models: { "openai/*": { input_mtok: 1, output_mtok: 2 } } },
      web: { allow_private_hosts: [target.host, target.breakingHost], model: "openai/gpt-5-mini" },
    },
  });
});
afterAll(async () => {
  await rig.stop();
  await target.stop();
});

const scrape = (caller: Caller, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  post(rig, "/v2/scrape", caller.token, body, { headers });

describe("a scrape", () => {
  test("costs the price of a page, in every place that says so", async () => {
    const caller = await rig.caller();
    const answer = await scrape(caller, { url: target.url("/article") });
    const body = (await answer.json()) as { data: { markdown: string; metadata: Record<string, unknown> } };
    expect([answer.status, answer.headers.get("x-tollgate-credits")]).toEqual([200, "0.001"]);
    expect(body.data.markdown).toContain("The tide");
    expect(body.data.metadata).toMatchObject({ statusCode: 200, creditsUsed: 0.001, url: target.url("/article") });
    await expectCharged(rig, caller, answer, { nano: PAGE, usage: { pages: 1 } });
    expect(await generationOf(rig, caller, answer)).toMatchObject({ operation: "scrape", model: "web/native" });
  });

  test("of a page that is not there is a result, and charged", async () => {
    const caller = await rig.caller();
    const answer = await scrape(caller, { url: target.url("/missing") });
    const { data } = (await answer.json()) as { data: { metadata: Record<string, unknown> } };
    expect([answer.status, data.metadata["statusCode"]]).toEqual([200, 404]);
    await expectSpent(rig, caller, PAGE);
  });

  test.each([
    ["a refused address", "http://127.0.0.1:1/", 422],
    ["a connection that breaks off", "breaking", 502],
    ["a file that is no document", "/picture.png", 502],
  ])("that fails is free: %s", async (_, path, status) => {
    const caller = await rig.caller();
    const url = path === "breaking" ? `http://${target.breakingHost}/` : path.startsWith("/") ? target.url(path) : path;
    const answer = await scrape(caller, { url });
    expect([answer.status, ((await answer.json()) as { success: boolean }).success]).toEqual([status, false]);
    await expectSpent(rig, caller, 0n);
  });

  test("with a retry key is read and charged once, and its answer is repeated", async () => {
    const caller = await rig.caller();
    const ask = () => scrape(caller, { url: target.url("/counted"), maxAge: 0 }, { "idempotency-key": "k" });
    const first = await ask();
    const text = await first.text();
    const again = await ask();
    expect([again.status, await again.text(), again.headers.get("idempotent-replayed")]).toEqual([200, text, "true"]);
    expect(target.requests("/counted")).toBe(1);
    await expectSpent(rig, caller, PAGE);
    const other = await scrape(caller, { url: target.url("/article") }, { "idempotency-key": "k" });
    expect(other.status).toBe(409);
  });

  test("is released when its client leaves", async () => {
    const caller = await rig.caller();
    const leaving = new AbortController();
    const asked = post(rig, "/v2/scrape", caller.token, { url: target.url("/gate/leave") }, { signal: leaving.signal });
    await until("the page is asked for", () => target.requests("/gate/leave") === 1);
    leaving.abort();
    expect(
      await asked.then(
        () => "answered",
        () => "left",
      ),
    ).toBe("left");
    await expectSpent(rig, caller, 0n);
  });

  test("with a summary costs the page and, as a child, the model's call", async () => {
    const caller = await rig.caller();
    const answer = await scrape(caller, { url: target.url("/article"), formats: ["summary"] });
    const { data } = (await answer.json()) as { data: { summary: string; metadata: { creditsUsed: number } } };
    expect(data.summary.length).toBeGreaterThan(0);
    const id = answer.headers.get("x-request-id");
    const spent = await caller.closed();
    expect(creditsText(spent)).toBe(String(data.metadata.creditsUsed));
    expect(answer.headers.get("x-tollgate-credits")).toBe(creditsText(spent));
    const listed = await fetch(`${rig.gateway.url}/v1/generations?parent_id=${id}`, {
      headers: { authorization: `Bearer ${caller.token}` },
    });
    const { data: children } = (await listed.json()) as { data: Record<string, unknown>[] };
    expect(children).toHaveLength(1);
    expect(children[0]).toMatchObject({ model: "openai/gpt-5-mini", parent_id: id });
    expect((await generationOf(rig, caller, answer))["credits"]).toBe(0.001);
  });

  test("as JSON follows the schema", async () => {
    const caller = await rig.caller();
    const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const answer = await scrape(caller, { url: target.url("/article"), formats: [{ type: "json", schema }] });
    const { data } = (await answer.json()) as { data: { json: { title: unknown } } };
    expect(typeof data.json.title).toBe("string");
  });
});

describe("a map", () => {
  test("costs its price", async () => {
    const caller = await rig.caller();
    const answer = await post(rig, "/v2/map", caller.token, { url: target.url("/article") });
    const { links, creditsUsed } = (await answer.json()) as { links: { url: string }[]; creditsUsed: number };
    expect(links.map(({ url }) => url)).toContain(target.url("/linked"));
    expect(creditsUsed).toBe(0.001);
    await expectCharged(rig, caller, answer, { nano: PAGE, usage: { maps: 1 } });
  });
});

describe("the cache", () => {
  test("answers the same user again, and no other", async () => {
    const [first, second] = [await rig.caller(), await rig.caller()];
    const stateFor = async (caller: Caller, more: object = {}) => {
      const answer = await scrape(caller, { url: target.url("/cached"), ...more });
      const { data } = (await answer.json()) as { data: { metadata: { cacheState: string } } };
      return data.metadata.cacheState;
    };
    expect(await stateFor(first)).toBe("miss");
    expect(await stateFor(first)).toBe("hit");
    expect(await stateFor(second)).toBe("miss");
    expect(target.requests("/cached")).toBe(2);
    expect(await stateFor(first, { maxAge: 0 })).toBe("miss");
    expect(await stateFor(first, { headers: { "x-a": "b" } })).toBe("miss");
    expect(await stateFor(first, { onlyMainContent: false })).toBe("miss");
    await expectSpent(rig, first, 5n * PAGE);
  });

  test("and the local search fail no scrape when their file cannot be used", async () => {
    const gateway = await startGateway({ providers: {}, config: { web: { allow_private_hosts: [target.host] } } });
    if (gateway.storage.engine !== "sqlite") throw new Error("this is no SQLite");
    writeFileSync(webPlace(gateway.storage.place).path, "This is no database. ".repeat(100));
    const token = await gateway.token({ user: "alice" });
    for (let time = 0; time < 2; time += 1) {
      const answer = await fetch(`${gateway.url}/v2/scrape`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ url: target.url("/uncached") }),
      });
      expect(await answer.json()).toMatchObject({ success: true, data: { metadata: { cacheState: "miss" } } });
    }
    for (const line of ["a page could not be cached", "a page could not be indexed"]) {
      await until("the log tells", () => gateway.log().includes(line));
    }
    expect(await spentBy(gateway, "alice")).toBe(2n * PAGE);
    await gateway.stop();
  });

  test("stores nothing of a request that forbids it", async () => {
    const caller = await rig.caller();
    for (const more of [{ zeroDataRetention: true }, { storeInCache: false }]) {
      for (let time = 0; time < 2; time += 1) {
        const answer = await scrape(caller, { url: target.url("/kept"), ...more });
        expect(await answer.json()).toMatchObject({ data: { metadata: { cacheState: "miss" } } });
      }
    }
  });
});

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  test("a hundred scrapes at once on a balance for ten: ten are answered", async () => {
    const gateway = await startGateway({
      ...(await storageOn(engine, postgres)),
      providers: {},
      config: { web: { allow_private_hosts: [target.host] } },
    });
    const token = await gateway.token({ user: "ten", credits: 10n * PAGE });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        fetch(`${gateway.url}/v2/scrape`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ url: target.url(`/many/${index}`), timeout: 120_000 }),
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), ...Array.from({ length: 90 }, () => 402)]);
    expect(await spentBy(gateway, "ten")).toBe(10n * PAGE);
    await expectCleanAudit(gateway);
    await gateway.stop();
  });

  test("a gateway that is killed in the middle charges nothing for what it did not answer", async () => {
    const options = {
      ...(await storageOn(engine, postgres)),
      providers: {},
      config: { web: { allow_private_hosts: [target.host] } },
    };
    const gateway = await startGateway(options);
    const token = await gateway.token({ user: "killed" });
    const path = `/gate/${engine}`;
    const asked = fetch(`${gateway.url}/v2/scrape`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ url: target.url(path) }),
    }).then(
      () => "answered",
      () => "cut",
    );
    await until("the page is asked for", () => target.requests(path) === 1);
    gateway.process.kill("SIGKILL");
    expect(await asked).toBe("cut");
    await letLeasesLapse(gateway.storage);
    await gateway.stop({ keepFolder: true });
    const again = await startGateway({ ...options, folder: gateway.folder });
    expect(await spentBy(again, "killed")).toBe(0n);
    await expectCleanAudit(again);
    await again.stop();
  });
});
