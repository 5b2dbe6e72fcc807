import { afterEach, describe, expect, test } from "bun:test";
import { deltaOf, outputNano, principal, SessionScene } from "./__fixtures__/session-scene.ts";
import { refusalOf } from "../charges/__fixtures__/work-scene.ts";
import { limits } from "../core/index.ts";

const PLENTY = 100_000_000_000n;
/** Of one event, in tokens. */
const PART = 64;

/** Nano-credits that suffice for one response and not for a second one. */
const CREDITS_OF_ONE = 60_000_000n;

/** Nano-credits for a whole hold of a response, and then for a minute of transcription and not for a second response. */
const CREDITS_OF_MINUTE = 88_000_000n;

let scene: SessionScene;
afterEach(() => scene.stop());

/** Commits wait until the returned function is called. */
function holdCommits(): () => void {
  const { store } = scene.work;
  const released = Promise.withResolvers<void>();
  const commit = store.commit.bind(store);
  store.commit = async (operations) => {
    await released.promise;
    return commit(operations);
  };
  return released.resolve;
}

/** Lets a response run until its hold is used up while the storage is away. Returns what is held. */
async function usedUp(nano = PLENTY): Promise<bigint> {
  scene = await SessionScene.start(nano);
  scene.begin("r");
  await scene.settle();
  const held = await scene.held();
  scene.work.store.failure = new Error("the storage is away");
  scene.speak("r", 1_000, PART);
  await scene.settle();
  return held;
}

function costOfPassed(): bigint {
  return BigInt(scene.client.tokens) * outputNano;
}

describe("a response whose hold is used up, and not raised", () => {
  test("passes no more than is held and one event, for 13 seconds", async () => {
    const held = await usedUp();
    await scene.seconds(13);
    expect(scene.upstream.isPaused).toBe(true);
    expect(costOfPassed()).toBeLessThanOrEqual(held + BigInt(PART) * outputNano);
    expect(costOfPassed()).toBeGreaterThan(0n);
  });

  test("stays paused while its client falls behind and drains", async () => {
    scene = await SessionScene.start(PLENTY);
    scene.begin("r");
    await scene.settle();
    const held = await scene.held();
    scene.work.store.failure = new Error("the storage is away");
    // What uses the hold up is also what the client does not read: both reasons stand from the same moment.
    scene.client.isStalled = true;
    scene.speak("r", 1_000, PART);
    await scene.settle();
    for (let times = 0; times < 20; times += 1) {
      void scene.handler.drain?.();
      await scene.settle();
    }
    scene.client.isStalled = false;
    await scene.seconds(3);
    void scene.handler.drain?.();
    await scene.settle();
    expect(scene.upstream.isPaused).toBe(true);
    expect(costOfPassed()).toBeLessThanOrEqual(held + BigInt(PART) * outputNano);
    scene.work.store.failure = undefined;
    await scene.seconds(5);
    expect(costOfPassed()).toBeGreaterThan(held);
  });

  test("goes on in order once it is raised", async () => {
    await usedUp();
    await scene.seconds(5);
    scene.work.store.failure = undefined;
    await scene.seconds(20);
    scene.done("r", 1_000 * PART);
    await scene.seconds(2);
    expect(scene.client.tokens).toBe(1_000 * PART);
    expect(scene.client.events.at(-1)).toMatchObject({ type: "response.done" });
    expect(scene.client.closed).toBeUndefined();
  });

  test("ends when its client hangs up", async () => {
    await usedUp();
    const closed = scene.handler.close(1006, "");
    await scene.seconds(3);
    scene.work.store.failure = undefined;
    await scene.seconds(5);
    await closed;
    expect(scene.ended).toBe(1);
    expect(scene.upstream.closed).toBeDefined();
    expect(await scene.held()).toBe(0n);
  });

  test("ends when its upstream hangs up, once the storage is back", async () => {
    await usedUp();
    scene.upstream.hangUp(1006);
    await scene.seconds(3);
    scene.work.store.failure = undefined;
    await scene.seconds(10);
    expect(scene.ended).toBe(1);
    expect(scene.client.closed).toBe(1011);
  });

  test("ends when the server stops", async () => {
    await usedUp();
    scene.handler.shutdown?.();
    scene.work.store.failure = undefined;
    await scene.seconds(5);
    expect(scene.ended).toBe(1);
    expect(scene.client.closed).toBe(1012);
    expect(await scene.held()).toBe(0n);
  });

  test("is not taken for a dead upstream, which is not read", async () => {
    await usedUp();
    await scene.seconds(90);
    expect(scene.upstream.closed).toBeUndefined();
    scene.work.store.failure = undefined;
    await scene.seconds(5);
    expect(scene.client.closed).toBeUndefined();
  });

  test("ends the session if the upstream sends more than may wait", async () => {
    await usedUp();
    const bytes = JSON.stringify(deltaOf("r", 10_000)).length;
    for (let sent = 0; sent <= limits.withheldBytesMax; sent += bytes) scene.upstream.emitAnyway(deltaOf("r", 10_000));
    await scene.settle();
    expect(scene.client.ofType("error")).toMatchObject([{ error: { code: "upstream_interrupted" } }]);
  });
});

describe("a response that uses up the last credits", () => {
  /** Of 64 tokens each, far more than the credits suffice for; some were on their way when the upstream was paused. */
  async function exhausted(): Promise<bigint> {
    scene = await SessionScene.start(CREDITS_OF_ONE);
    scene.begin("r");
    await scene.settle();
    for (let sent = 0; sent < 500; sent += 1) scene.upstream.emitAnyway(deltaOf("r", PART));
    await scene.seconds(6);
    return 61_000_000n;
  }

  test("ends the session with the code of a refusal", async () => {
    await exhausted();
    expect(scene.client.ofType("error")).toMatchObject([{ error: { code: "insufficient_credits" } }]);
    expect(scene.client.closed).toBe(1008);
    expect(scene.ended).toBe(1);
    expect(await scene.held()).toBe(0n);
  });

  test("does not get what its upstream has generated while it was paused", async () => {
    scene = await SessionScene.start(CREDITS_OF_ONE);
    scene.begin("r");
    await scene.settle();
    scene.speak("r", 500);
    await scene.seconds(6);
    expect(scene.client.closed).toBe(1008);
    expect(costOfPassed()).toBeLessThanOrEqual(61_000_000n + BigInt(PART) * outputNano);
  });

  test("does not get what had to wait because it was not held", async () => {
    const credits = await exhausted();
    expect(costOfPassed()).toBeLessThanOrEqual(credits + BigInt(PART) * outputNano);
  });
});

describe("the end of a response whose charge is under way", () => {
  test("is awaited by a session that ends", async () => {
    scene = await SessionScene.start(PLENTY);
    scene.begin("r");
    await scene.settle();
    scene.speak("r", 2);
    await scene.settle();
    const releaseCommits = holdCommits();
    scene.done("r", 128);
    let isClosed = false;
    const closed = Promise.resolve(scene.handler.close(1006, "")).then(() => (isClosed = true));
    for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    releaseCommits();
    await scene.seconds(3);
    await closed;
    expect(await scene.held()).toBe(0n);
  });

  test("is awaited by a session that has no credits to hold another one", async () => {
    // One hold suffices for what is asked; there is no second one, whose release would be committed behind the charge.
    scene = await SessionScene.start(CREDITS_OF_ONE);
    scene.begin("r");
    await scene.settle();
    scene.speak("r", 2);
    await scene.settle();
    const releaseCommits = holdCommits();
    scene.done("r", 128);
    let isClosed = false;
    const closed = Promise.resolve(scene.handler.close(1006, "")).then(() => (isClosed = true));
    for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    releaseCommits();
    await scene.seconds(3);
    await closed;
    expect(await scene.held()).toBe(0n);
  });

  test("reaches its client although the upstream closes meanwhile and no credits are left", async () => {
    scene = await SessionScene.start(CREDITS_OF_ONE);
    scene.begin("r");
    await scene.settle();
    scene.speak("r", 2);
    await scene.settle();
    scene.done("r", 128);
    scene.upstream.hangUp(1000);
    await scene.seconds(3);
    const [end, error] = scene.client.events.slice(-2);
    expect(end).toMatchObject({ type: "response.done" });
    expect(error).toMatchObject({ type: "error", error: { code: "insufficient_credits" } });
    expect(scene.client.closed).toBe(1008);
  });

  test("reaches its client although the upstream closes meanwhile", async () => {
    scene = await SessionScene.start(PLENTY);
    scene.begin("r");
    await scene.settle();
    scene.speak("r", 2);
    await scene.settle();
    scene.done("r", 128);
    scene.upstream.hangUp(1000);
    await scene.seconds(3);
    expect(scene.client.ofType("response.done")).toHaveLength(1);
    expect(scene.client.closed).toBe(1000);
  });
});

describe("an upstream that closes after it has sent everything", () => {
  test("is passed on whole to a client that reads later", async () => {
    scene = await SessionScene.start(PLENTY);
    scene.begin("r");
    await scene.settle();
    scene.client.isStalled = true;
    scene.speak("r", 1);
    await scene.settle();
    for (let part = 0; part < 3; part += 1) scene.upstream.emitAnyway(deltaOf("r", PART));
    scene.upstream.hangUp(1000);
    await scene.settle();
    scene.client.isStalled = false;
    void scene.handler.drain?.();
    await scene.seconds(3);
    expect(scene.client.tokens).toBe(4 * PART);
    expect(scene.client.closed).toBe(1000);
  });
});

describe("responses that begin before they are held", () => {
  test("pass nothing until they are", async () => {
    scene = await SessionScene.start(PLENTY);
    const releaseCommits = holdCommits();
    // The first is held ahead, the second is not.
    for (const id of ["a", "b"]) scene.upstream.emitAnyway({ type: "response.created", response: { id } });
    for (let part = 0; part < 50; part += 1) scene.upstream.emitAnyway(deltaOf("b", PART));
    for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(scene.client.tokens).toBeLessThanOrEqual(PART);
    releaseCommits();
    await scene.seconds(5);
    expect(scene.client.tokens).toBe(50 * PART);
  });

  test("each get a hold of their own", async () => {
    scene = await SessionScene.start(PLENTY);
    // Only the first is held ahead; the others come before the ledger has answered.
    for (const id of ["a", "b", "c"]) scene.upstream.emitAnyway({ type: "response.created", response: { id } });
    await scene.seconds(5);
    expect(scene.client.ofType("error")).toEqual([]);
    expect(scene.client.closed).toBeUndefined();
    expect(scene.client.ofType("response.created")).toHaveLength(3);
  });
});

test("a client secret whose first response cannot be held leaves nothing held for its transcriptions", async () => {
  scene = await SessionScene.start(CREDITS_OF_MINUTE);
  const open = await scene.work.store.openHolds();
  const transcription = { model: "whisper" };
  const session = { type: "realtime" as const, model: "openai/m", audio: { input: { transcription } } };
  const created = scene.sessions.createClientSecret({ requestId: "secret", principal, body: { session } });
  expect(await refusalOf(created)).toMatchObject({ code: "insufficient_credits" });
  await scene.settle();
  expect(await scene.work.store.openHolds()).toEqual(open);
});
