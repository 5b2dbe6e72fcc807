/** The keys and delays of attempts, and their observers. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../core/index.ts";
import { keyIdOf } from "../routing/index.ts";
import { BadReply } from "../upstream/index.ts";
import { down, fails, firstKey, ok, refusalOf, secondKey, SendScene, silent } from "./__fixtures__/send-scene.ts";

let scene: SendScene;
beforeEach(() => {
  scene = new SendScene();
});
afterEach(() => scene.stop());

describe("several keys", () => {
  beforeEach(() => {
    scene.keys = scene.keyPool(firstKey, secondKey);
  });

  test.each([
    ["refused", fails(401)],
    ["limited", fails(429)],
    ["out of quota", fails(429, {}, `{"error":{"code":"insufficient_quota"}}`)],
  ])("a key that is %s cools down, and the other one is tried at once", async (_title, behaviour) => {
    const sent = scene.send({ behaviours: [behaviour, ok] });
    await scene.until(1, 1);
    expect(await sent).toMatchObject({ kind: "stream" });
    expect(scene.fetched.map(({ key }) => key)).toEqual([firstKey, secondKey]);
    // The next calls do not use the cooling key.
    await scene.send({ behaviours: [ok] });
    await scene.send({ behaviours: [ok] });
    expect(scene.fetched.slice(2).map(({ key }) => key)).toEqual([secondKey, secondKey]);
  });

  test("a limited key cools down for the given time, and is used again", async () => {
    const limitedAt = scene.now;
    const limited = scene.send({ behaviours: [fails(429, { "retry-after": "20" }), ok] });
    await scene.until(1, 1);
    await limited;
    const used = async (): Promise<Set<string | undefined>> => {
      scene.fetched = [];
      await scene.send({ behaviours: [ok] });
      await scene.send({ behaviours: [ok] });
      return new Set(scene.fetched.map(({ key }) => key));
    };
    scene.now = limitedAt + 19_999;
    expect(await used()).toEqual(new Set([secondKey]));
    scene.now = limitedAt + 20_000;
    expect(await used()).toEqual(new Set([firstKey, secondKey]));
  });

  test("when all of them are refused, the error says so", async () => {
    const sent = scene.send({ behaviours: [fails(401)], options: { retries: 5 } });
    await scene.until(1, 1);
    expect(sent).rejects.toMatchObject({ code: "provider_key_refused" });
    expect(scene.fetched.map(({ key }) => key)).toEqual([firstKey, secondKey]);
  });

  describe("of which only one can make the request", () => {
    const pinnedKeyId = keyIdOf(secondKey);

    test("that one is used each time, even if it was refused or limited", async () => {
      const sent = scene.send({ behaviours: [fails(429, { "retry-after": "1" }), ok], pinnedKeyId });
      await scene.until(2_000);
      expect(await sent).toMatchObject({ kind: "stream", keyId: pinnedKeyId });
      const refused = scene.send({ behaviours: [fails(401)], pinnedKeyId });
      expect(refused).rejects.toMatchObject({ code: "provider_key_refused" });
      await scene.send({ behaviours: [ok], pinnedKeyId });
      expect(new Set(scene.fetched.map(({ key }) => key))).toEqual(new Set([secondKey]));
    });

    test("any key is used if that one is no longer configured", async () => {
      await scene.send({ behaviours: [ok], pinnedKeyId: "gone" });
      expect(scene.fetched.map(({ key }) => key)).toEqual([firstKey]);
    });
  });

  test("an error that is not a key's fault is not retried with the other", async () => {
    await scene.send({ behaviours: [fails(400)] });
    expect(scene.fetched).toHaveLength(1);
  });

  test("no key is repeated to the client, not even another one", async () => {
    const body = `{"error":{"message":"Incorrect API key provided: ${firstKey}. Not ${secondKey} either."}}`;
    const answer = await scene.send({ behaviours: [fails(400, {}, body)] });
    expect(answer).toMatchObject({
      body: `{"error":{"message":"Incorrect API key provided: [redacted]. Not [redacted] either."}}`,
    });
  });
});

describe("the observer is notified of every attempt", () => {
  const keyId = keyIdOf(firstKey);
  const attempt = { workId: "req_1", provider: "up", keyId };

  test("also of one that succeeds", async () => {
    await scene.send({ behaviours: [ok] });
    expect(scene.attempts).toMatchObject([
      { ...attempt, attempt: 1, status: 200, failure: undefined, retryInMs: undefined },
    ]);
  });

  test("that failed, with its class and the following delay", async () => {
    const sent = scene.send({ behaviours: [down, fails(503, { "retry-after": "1" }), fails(400)] });
    await scene.until(5_000);
    await sent;
    expect(scene.attempts).toMatchObject([
      { ...attempt, attempt: 1, status: undefined, failure: "unreachable", retryInMs: 125 },
      { ...attempt, attempt: 2, status: 503, failure: "overloaded", retryInMs: 1_000 },
      { ...attempt, attempt: 3, status: 400, failure: "request", retryInMs: undefined },
    ]);
  });

  test("that times out", async () => {
    const late = scene.send({ behaviours: [silent], options: { firstByteMsMax: 2_000 } });
    await scene.until(10_000);
    expect((await refusalOf(late)).code).toBe("upstream_timeout");
    expect(scene.attempts).toMatchObject([{ ...attempt, attempt: 1, status: undefined, failure: "no_head" }]);
  });

  test("that is answered without valid HTTP", async () => {
    const garbled = scene.send({ behaviours: [() => Promise.reject(new BadReply("no HTTP"))] });
    expect((await refusalOf(garbled)).code).toBe("upstream_invalid_answer");
    expect(scene.attempts.at(-1)).toMatchObject({ ...attempt, failure: "broken" });
  });

  test("that its client aborts", async () => {
    const left = scene.send({ behaviours: [silent] });
    await scene.turns();
    scene.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    await refusalOf(left);
    expect(scene.attempts).toMatchObject([{ ...attempt, failure: "abandoned" }]);
  });

  test("with a refused or a limited key, by the key's id", async () => {
    scene.keys = scene.keyPool(firstKey, secondKey);
    const sent = scene.send({ behaviours: [fails(401), fails(429)] });
    await scene.until(1, 1);
    await sent;
    expect(scene.attempts).toMatchObject([
      { ...attempt, failure: "key_refused", retryInMs: 0 },
      { ...attempt, keyId: keyIdOf(secondKey), failure: "rate_limited", retryInMs: undefined },
    ]);
    expect(JSON.stringify(scene.attempts)).not.toContain("sk-");
  });
});
