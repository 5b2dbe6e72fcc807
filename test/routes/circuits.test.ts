/** Targets that fail are left out: who is asked, by a real gateway in real time. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Rig, startRig, until } from "../kit/index.ts";

const PAUSE_MS = 5_000;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      routing: {
        attempt_timeout: "1s",
        routes: Object.fromEntries(
          Object.entries({
            refusing: "openai/refusing+status-503",
            silent: "openai/silent+slow-60000",
            healing: "openai/healing+status-500+times-4",
          }).map(([name, model]) => [name, { tiers: [[{ model }, { model: "anthropic/claude-good" }]] }]),
        ),
      },
    },
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

async function call(model: string, headers: Record<string, string> = {}) {
  const body = { model, stream: true, messages: [{ role: "user", content: "hi" }] };
  const answer = await (await rig.caller()).chat(body, { headers });
  await answer.text();
  return { status: answer.status, provider: answer.headers.get("x-tollgate-provider") };
}

const good = { status: 200, provider: "anthropic" };

test("a target that refuses is not asked after three failures, and once after its pause, by however many calls", async () => {
  for (let times = 0; times < 8; times += 1) expect(await call("refusing")).toEqual(good);
  const openedAt = Date.now();
  expect(rig.received("refusing")).toHaveLength(3);
  await until("the pause has passed", () => Date.now() - openedAt > PAUSE_MS);
  expect(await Promise.all(Array.from({ length: 20 }, () => call("refusing")))).toEqual(
    Array.from({ length: 20 }, () => good),
  );
  expect(rig.received("refusing")).toHaveLength(4);
  const lines = (): unknown[] => rig.gateway.logLines().filter(({ msg }) => msg === "target is left out");
  await until("both openings are logged", () => lines().length === 2);
  expect(lines()).toMatchObject([
    { model: "openai/refusing+status-503", ms: 5_000 },
    { model: "openai/refusing+status-503", ms: 10_000 },
  ]);
});

test("a silent target is waited for by the first calls alone", async () => {
  for (let times = 0; times < 6; times += 1) expect(await call("silent")).toEqual(good);
  expect(rig.received("silent")).toHaveLength(3);
});

test("a call without another target asks it all the same", async () => {
  for (let times = 0; times < 3; times += 1) await call("silent");
  const before = rig.received("refusing").length;
  expect(await call("refusing", { "x-tollgate-fallback": "none" })).toEqual({ status: 503, provider: "openai" });
  expect(rig.received("refusing")).toHaveLength(before + 1);
});

test("a target that works again gets its calls back", async () => {
  for (let times = 0; times < 4; times += 1) expect(await call("healing")).toEqual(good);
  expect(rig.received("healing")).toHaveLength(3);
  // The call after the pause is its fourth failure, and the one after the next pause its first success.
  await until("it answers", async () => (await call("healing")).provider === "openai");
  await until("it has all calls again", async () => {
    const providers = await Promise.all(Array.from({ length: 20 }, async () => (await call("healing")).provider));
    return providers.every((provider) => provider === "openai");
  });
});
