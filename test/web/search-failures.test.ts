/** Searches on engines that fail: what has been found by then is an answer, and anything else is free. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Caller, oneCredit, post, type Rig, startRig } from "../kit/index.ts";

const SEARCH = oneCredit / 500n;

describe.each(["searxng", "brave", "firecrawl"] as const)("%s", (backend) => {
  let engine: Bun.Server<undefined>;
  let rig: Rig;
  let caller: Caller;
  /** What the engine answers to its requests, one after the other. */
  let answers: (() => Response | Promise<Response>)[] = [];
  beforeAll(async () => {
    engine = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: () => answers.shift()?.() ?? new Response("", { status: 429 }),
    });
    const baseUrl = `http://127.0.0.1:${engine.port}`;
    rig = await startRig({ config: { web: { search: { backend, base_url: baseUrl, api_key: "key" } } } });
    caller = await rig.caller();
  });
  afterAll(async () => {
    await rig.stop();
    await engine.stop(true);
  });

  const search = (body: object): Promise<Response> =>
    post(rig, "/v2/search", caller.token, { query: "train", ...body });

  test("that hangs is given the time of the request, and costs nothing", async () => {
    const before = await caller.closed();
    const { promise: never } = Promise.withResolvers<Response>();
    answers = [() => never];
    const begun = performance.now();
    const answer = await search({ timeout: 1_000 });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      502,
      "The search engine took too long.",
    ]);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(await caller.closed()).toBe(before);
  });

  test.skipIf(backend === "firecrawl")("that permits one request gives the results of that one", async () => {
    const before = await caller.closed();
    const results = [{ url: "https://example.com/a", title: "A train" }];
    answers = [() => Response.json({ results, query: { more_results_available: true }, web: { results } })];
    const found = (await (await search({ limit: 30 })).json()) as { data: { web: { url: string }[] } };
    expect(found.data.web.map(({ url }) => url)).toEqual(["https://example.com/a"]);
    expect((await caller.closed()) - before).toBe(SEARCH);
  });
});
