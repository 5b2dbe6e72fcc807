/** A user whose video jobs hang at their provider holds up nobody else's, and no caller waits for them. */
import { describe, expect, test } from "bun:test";
import { WebhookReceiver } from "../../src/webhooks/__fixtures__/receiver.ts";
import { query, until } from "../kit/index.ts";
import { besideOthers, expectShare } from "../kit/slowness.ts";
import { json, nano, videoScene } from "./video-scene.ts";

const HANGING = 400;

/** A job is asked for after at most five seconds, and its message sent after at most one more. */
const settledMsMax = 10_000;

describe("beside four hundred jobs of another user whose provider does not answer", () => {
  const scene = videoScene("SQLite");
  const hanging = new Map<string, number>();
  let hangingMax = 0;
  let made = 0;
  /** How often the provider was asked about the job that its owner looks up. */
  let asked = 0;

  /** What the provider answers: nothing about the jobs of one user, whose ids begin with `hang`. */
  function serve(state: () => object): void {
    scene.upstream.answerWith(({ method, path, body }) => {
      if (method === "POST") {
        made += 1;
        const id = body.includes("hangs") ? `hang-${made}` : `video_${/quick|slow/.exec(body)?.[0]}`;
        return Response.json({ id, object: "video", status: "queued", seconds: "4", size: "720x1280" });
      }
      const one = { seconds: "4", size: "720x1280" };
      if (path.includes("/video_slow")) {
        asked += 1;
        return Response.json({ id: "video_slow", ...one, status: "in_progress" });
      }
      if (!path.includes("/hang-")) return Response.json({ id: "video_quick", ...one, ...state() });
      hanging.set(path, (hanging.get(path) ?? 0) + 1);
      hangingMax = Math.max(hangingMax, hanging.size);
      return new Promise<Response>(() => undefined);
    });
  }

  const create = (as: string, prompt: string, more: object = {}): Promise<Response> =>
    scene.send("POST", "/v1/videos", { as, body: { model: "openai/sora-2", prompt, seconds: "4", ...more } });

  test("a finished one is settled, and its message sent, and a caller gets what is known after two seconds", async () => {
    let state: object = { status: "in_progress" };
    serve(() => state);
    expect((await create(await ownToken(), "slow")).status).toBe(200);
    const { result: aloneMs } = await besideOthers(lookUpMs);
    const hostile = await scene.gateway.token({ user: "hostile", credits: nano(1_000) });
    for (let at = 0; at < HANGING; at += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => create(hostile, "hangs")));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    }
    await query(scene.gateway.storage, "UPDATE jobs SET run_at = 1");
    await until("the provider is asked about many of them", () => hanging.size >= 32);
    const { result: besideMs, slow } = await besideOthers(lookUpMs);
    expectShare({ queue: "look-ups of videos", aloneMs, besideMs, slow });
    await scene.gateway.cli("webhooks", "secret", "--user", scene.user, "--json");
    using receiver = new WebhookReceiver(() => new Response());
    expect((await create(await ownToken(), "quick", { webhook_url: receiver.url })).status).toBe(200);
    state = { status: "completed" };
    const startedMs = performance.now();
    await receiver.until(1);
    const settledMs = performance.now() - startedMs;
    if (process.env["TIMES"] !== undefined) console.info(`a finished job's message: ${Math.round(settledMs)} ms`);
    expect(settledMs).toBeLessThan(settledMsMax);
    await until("it is charged", async () => (await scene.books()).held === nano(0.4));
    expect((await scene.books()).spent).toBe(nano(0.4));
    const askedMs = performance.now();
    const [some = ""] = hanging.keys();
    const waiting = `hang-${HANGING}`;
    for (const id of [some.split("/").at(-1) ?? "", waiting]) {
      const answer = await scene.send("GET", `/v1/videos/${id}`, { as: hostile });
      expect([answer.status, await json(answer)]).toMatchObject([200, { id, status: "queued" }]);
    }
    expect(performance.now() - askedMs).toBeLessThan(8_000);
    expect(hangingMax).toBeLessThan(64);
  });

  /** A look-up of a caller's own job that asks its provider. */
  async function lookUpMs(): Promise<number> {
    const before = asked;
    const startedMs = performance.now();
    const { status, job } = await scene.poll("video_slow");
    expect([status, job["status"], asked > before]).toEqual([200, "in_progress", true]);
    return performance.now() - startedMs;
  }

  const ownToken = (): Promise<string> => scene.gateway.token({ user: scene.user });
});
