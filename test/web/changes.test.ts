/** The format changeTracking: on pages that change between two scrapes, for several users, and with an upstream engine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Firecrawl } from "@mendable/firecrawl-js";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { type Caller, creditsText, post, type Rig, startRig, until } from "../kit/index.ts";

let site: Bun.Server<undefined>;
/** The paragraphs of each page; undefined for one that is gone. */
const texts = new Map<string, string | undefined>();
let rig: Rig;
let relaying: Rig;
let simulators: Simulators;
beforeAll(async () => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const text = texts.get(new URL(url).pathname);
      const headers = { "content-type": "text/html" };
      if (text === undefined) return new Response("<p>Gone</p>", { status: 404, headers });
      const paragraphs = text.split("\n").map((line) => `<p>${line}</p>`);
      return new Response(`<!doctype html><title>Tides</title><main><h1>Tides</h1>${paragraphs.join("")}</main>`, {
        headers,
      });
    },
  });
  rig = await startRig({ config: { web: { allow_private_hosts: ["127.0.0.1:*"], model: "openai/gpt-changes" } } });
  simulators = await startSimulators();
  const engine = { kind: "firecrawl", base_url: simulators.web.firecrawl, api_key: "fc-simulated" };
  relaying = await startRig({ config: { web: { engine, allow_private_hosts: ["127.0.0.1:*"] } } });
});
afterAll(async () => {
  await rig.stop();
  await relaying.stop();
  await simulators.stop();
  await site.stop(true);
});

let pages = 0;

/** The path of a page that nothing has read. */
function pageOf(text: string): string {
  pages += 1;
  texts.set(`/page-${pages}`, text);
  return `/page-${pages}`;
}

interface Tracked {
  previousScrapeAt: string | null;
  changeStatus: string;
  visibility: string;
  diff?: { text: string; json: { files: { chunks: { content: string }[]; additions: number }[] } };
  json?: unknown;
}

async function track(caller: Caller, path: string, options: object = {}, more: object = {}): Promise<Tracked> {
  const body = {
    url: `http://127.0.0.1:${site.port}${path}`,
    formats: [{ type: "changeTracking", ...options }],
    ...more,
  };
  const answer = await post(rig, "/v2/scrape", caller.token, body);
  const { data, error } = (await answer.json()) as { data?: { changeTracking: Tracked }; error?: string };
  if (data === undefined) throw new Error(error);
  return data.changeTracking;
}

test("a page is new, the same, changed with its lines, and removed", async () => {
  const caller = await rig.caller();
  const path = pageOf("High at noon.\nLow at six.");
  const before = Date.now();
  expect(await track(caller, path)).toEqual({ previousScrapeAt: null, changeStatus: "new", visibility: "visible" });
  const same = await track(caller, path, { modes: ["git-diff"] });
  expect([same.changeStatus, same.diff]).toEqual(["same", undefined]);
  expect(Date.parse(same.previousScrapeAt ?? "")).toBeWithin(before, Date.now() + 1);
  texts.set(path, "Low at six.\nHigh at noon.");
  expect(await track(caller, path)).toMatchObject({ changeStatus: "same" });
  texts.set(path, "Low at seven.\nHigh at noon.");
  const changed = await track(caller, path, { modes: ["git-diff"] });
  expect(changed.changeStatus).toBe("changed");
  expect(changed.diff?.text).toContain("\n-Low at six.\n+Low at seven.\n");
  expect(changed.diff?.text).toStartWith(changed.diff?.json.files[0]?.chunks[0]?.content ?? "no chunk");
  texts.set(path, undefined);
  expect(await track(caller, path, { modes: ["git-diff"] })).toMatchObject({ changeStatus: "removed" });
  texts.set(path, "Low at seven.\nHigh at noon.");
  expect(await track(caller, path)).toMatchObject({ changeStatus: "same" });
});

test("histories differ by user, by tag and by the parts that are read", async () => {
  const [one, other] = [await rig.caller(), await rig.caller()];
  const path = pageOf("High at noon.");
  await track(one, path);
  texts.set(path, "High at one.");
  expect(await track(other, path)).toMatchObject({ changeStatus: "new", previousScrapeAt: null });
  expect(await track(one, path, { tag: "hourly" })).toMatchObject({ changeStatus: "new" });
  expect(await track(one, path, {}, { excludeTags: ["h1"] })).toMatchObject({ changeStatus: "new" });
  expect(await track(one, path)).toMatchObject({ changeStatus: "changed" });
});

test("a page that was read without the format, and is in the cache, is an earlier version", async () => {
  const caller = await rig.caller();
  const path = pageOf("High at noon.");
  await post(rig, "/v2/scrape", caller.token, { url: `http://127.0.0.1:${site.port}${path}` });
  texts.set(path, "High at one.");
  expect(await track(caller, path)).toMatchObject({ changeStatus: "changed" });
});

test("the mode json is a model's call, of a page that has changed alone", async () => {
  const caller = await rig.caller();
  const schema = { type: "object", properties: { high: { type: "string" } } };
  const path = pageOf("High at noon.");
  const asked = rig.received("gpt-changes").length;
  const mode = { modes: ["json"], schema, prompt: "The hours." };
  await track(caller, path, mode);
  await track(caller, path, mode);
  expect(rig.received("gpt-changes").length).toBe(asked);
  texts.set(path, "High at one.");
  const body = { url: `http://127.0.0.1:${site.port}${path}`, formats: [{ type: "changeTracking", ...mode }] };
  const before = await caller.closed();
  const answer = await post(rig, "/v2/scrape", caller.token, body);
  const { data } = (await answer.json()) as { data: { changeTracking: Tracked } };
  expect(data.changeTracking.json).toMatchObject({ high: {} });
  expect(Object.keys((data.changeTracking.json as { high: object }).high)).toEqual(["previous", "current"]);
  const [call] = rig.received("gpt-changes").slice(asked);
  const sent = JSON.stringify(call?.body);
  expect([sent.includes("High at noon."), sent.includes("High at one."), sent.includes("The hours.")]).toEqual([
    true,
    true,
    true,
  ]);
  const spent = creditsText((await caller.closed()) - before);
  expect(answer.headers.get("x-tollgate-credits")).toBe(spent);
  expect(Number(spent)).toBeGreaterThan(0.001);
});

test("a crawl tracks its pages, and v1 names the options beside the formats", async () => {
  const caller = await rig.caller();
  const path = pageOf("High at noon.");
  const url = `http://127.0.0.1:${site.port}${path}`;
  const app = new Firecrawl({ apiUrl: rig.gateway.url, apiKey: caller.token });
  const options = { formats: ["markdown", { type: "changeTracking", modes: ["git-diff"] }] } as const;
  const first = await app.batchScrape([url], { options: { ...options, formats: [...options.formats] } });
  expect(first.data[0]?.changeTracking).toMatchObject({ changeStatus: "new" });
  texts.set(path, "High at one.");
  const body = { url, formats: ["markdown", "changeTracking"], changeTrackingOptions: { modes: ["git-diff"] } };
  const old = (await (await post(rig, "/v1/scrape", caller.token, body)).json()) as {
    data: { changeTracking: Tracked };
  };
  expect(old.data.changeTracking.diff?.text).toContain("+High at one.");
});

test("what cannot be kept is refused", async () => {
  const caller = await rig.caller();
  const wanted = { url: `http://127.0.0.1:${site.port}/`, formats: ["changeTracking"], zeroDataRetention: true };
  const answer = await post(rig, "/v2/scrape", caller.token, wanted);
  expect([answer.status, (await answer.json()) as object]).toEqual([
    422,
    expect.objectContaining({ error: expect.stringContaining("changeTracking keeps the page") as string }) as object,
  ]);
});

test("an upstream engine gets tags of each user's own", async () => {
  const callers = [await relaying.caller(), await relaying.caller()];
  const url = `${simulators.site}/`;
  for (const { token } of callers) {
    for (const formats of [["changeTracking"], [{ type: "changeTracking", tag: "hourly" }]])
      await post(relaying, "/v2/scrape", token, { url, formats });
  }
  const tags = await until("the engine was asked", () => {
    const bodies = simulators.requests().map(({ body }) => body);
    const all = bodies.flatMap((body) => /"tag":"(\w+)"/.exec(body)?.[1] ?? []);
    return all.length === 4 && all;
  });
  expect(new Set(tags).size).toBe(4);
  expect(tags.every((tag) => /^[0-9a-f]{64}$/.test(tag))).toBe(true);
});
