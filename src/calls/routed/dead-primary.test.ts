/** A primary target that is dead for a minute, or only slow, and a call every four seconds, on fake time with the default time-outs. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { WorkScene } from "../../charges/__fixtures__/work-scene.ts";
import type { AskUpstream, UpstreamReply } from "../../core/index.ts";
import { Circuits } from "../../routing/index.ts";
import { askByFetch } from "../../upstream/index.ts";
import { callOf, chatRoute, pipelineOn } from "../__fixtures__/pipeline.ts";

let scene: WorkScene;
let circuits: Circuits;
beforeEach(async () => {
  scene = await WorkScene.start();
  circuits = new Circuits({ clock: scene.deps.clock, random: () => 0.99, onChange: () => undefined });
});
afterEach(() => scene.stop());

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const events = [{ choices: [{ index: 0, delta: { content: "Hi" } }] }, { choices: [], usage }, "[DONE]"]
  .map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
  .join("");
const answer = askByFetch(() =>
  Promise.resolve(new Response(events, { headers: { "content-type": "text/event-stream" } })),
);

interface Call {
  at: number;
  answeredAt: number;
  provider: string | undefined;
}

/** How the primary, `openai`, answers: at a moment, in milliseconds from the beginning. */
type Primary = (request: Parameters<AskUpstream>[0], at: number) => Promise<UpstreamReply>;

const refuses: Primary = () => Promise.reject(new Error("refused"));
/** Until the request is aborted. */
const silent: Primary = ({ signal, onSent }) => {
  onSent?.(true);
  return new Promise((_, reject) => {
    signal.addEventListener("abort", { handleEvent: () => reject(signal.reason) });
  });
};
const after =
  (milliseconds: number): Primary =>
  (request) =>
    new Promise((resolve, reject) => {
      request.signal.addEventListener("abort", { handleEvent: () => reject(request.signal.reason) });
      scene.ticker.after(milliseconds, () => resolve(answer(request)));
    });

/** Runs everything that does not wait for a timer. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** A call every so many seconds. Resolves with the calls, and with the moments at which the primary was asked. */
async function callsTo(primary: Primary, { seconds = 60, every = 4, stream = true } = {}) {
  const begun = scene.now;
  const asked: number[] = [];
  const ask: AskUpstream = (request) => {
    if (!request.url.startsWith("https://openai.test")) return answer(request);
    asked.push(scene.now - begun);
    return primary(request, scene.now - begun);
  };
  const { pipeline } = pipelineOn(scene, { ask, circuits });
  const calls: Promise<Call>[] = [];
  let answered = 0;
  const one = async (at: number): Promise<Call> => {
    const headers = new Headers({ "x-tollgate-fallback": "azure/m" });
    const call = callOf({ max_tokens: 5, stream }, { headers, requestId: `req_${scene.now}` });
    const { headers: named, body } = await pipeline.run(chatRoute, call);
    const answeredAt = scene.now - begun;
    await new Response(body).text();
    answered += 1;
    return { at, answeredAt, provider: named["x-tollgate-provider"] };
  };
  for (let second = 0; second < seconds || answered < calls.length; second += 1) {
    if (second < seconds && second % every === 0) calls.push(one(second * 1_000));
    await turns();
    await scene.tick(1_000);
    await turns();
  }
  return { asked, calls: await Promise.all(calls) };
}

describe("a primary that is dead for a minute", () => {
  test("and refuses is asked at most 8 times, and nobody waits", async () => {
    const { asked, calls } = await callsTo(refuses);
    expect(asked.length).toBeLessThanOrEqual(8);
    expect(calls.map(({ provider, answeredAt, at }) => [provider, answeredAt - at])).toEqual(
      calls.map(() => ["azure", 0]),
    );
  });

  test("and is silent is asked at most 8 times; the first caller waits for `attempt_timeout`, later ones hardly", async () => {
    const { asked, calls } = await callsTo(silent);
    expect(asked.length).toBeLessThanOrEqual(8);
    expect(calls.every(({ provider }) => provider === "azure" || provider === undefined)).toBe(true);
    const waits = calls.map(({ at, answeredAt }) => answeredAt - at);
    // After `head_wait` the head goes, and the stream has its content at the end of the time-out.
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
    expect(waits.filter((waited) => waited > 0).length).toBe(asked.length);
    // Once the circuit is open, only its probe waits, for three seconds.
    const open = calls.filter(({ at }) => at > 40_000);
    expect(open.every(({ at, answeredAt }) => answeredAt - at <= 4_000)).toBe(true);
    expect(open.filter(({ at, answeredAt }) => answeredAt === at).length).toBeGreaterThanOrEqual(open.length - 2);
  });

  test("gets its calls back when it works again", async () => {
    let isDead = true;
    const { asked } = await callsTo((request) => (isDead ? silent(request, 0) : answer(request)), { seconds: 20 });
    expect(asked.length).toBeGreaterThan(0);
    isDead = false;
    scene.now += 120_000;
    const { calls } = await callsTo(answer, { seconds: 40, every: 1 });
    expect(calls.slice(-20).every(({ provider }) => provider === "openai")).toBe(true);
  });
});

describe("a primary that works", () => {
  test("and whose heads take 9 seconds is asked by every call", async () => {
    const { asked, calls } = await callsTo(after(9_000));
    expect([asked.length, calls.every(({ provider }) => provider === "openai")]).toEqual([calls.length, true]);
  });

  test("and whose heads take 25 seconds is asked by every call, once one of them has come", async () => {
    const { asked } = await callsTo(after(25_000), { seconds: 120 });
    const missed = Array.from({ length: 30 }, (_, call) => call * 4_000).filter((at) => !asked.includes(at));
    expect(missed.filter((at) => at > 25_000)).toEqual([]);
    expect(missed.length).toBeLessThanOrEqual(4);
  });

  test("and has one request that it begins late loses at most one other call to it", async () => {
    let requests = 0;
    const primary: Primary = (request, at) => {
      requests += 1;
      return requests === 1 ? after(28_000)(request, at) : answer(request);
    };
    // The others come only after the first one has waited for long.
    const { asked, calls } = await callsTo(primary, { seconds: 60, every: 12 });
    expect([asked.length, calls.length]).toEqual([5, 5]);
  });

  test("and whose answers are not streamed is asked by every call: their heads come at their ends", async () => {
    const whole = askByFetch(() => Promise.resolve(Response.json({ choices: [], usage })));
    const slow: Primary = (request) =>
      new Promise((resolve) => void scene.ticker.after(60_000, () => resolve(whole(request))));
    const { asked, calls } = await callsTo(slow, { stream: false });
    expect([asked.length, calls.every(({ provider }) => provider === "openai")]).toEqual([calls.length, true]);
  });
});
