import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eachProvider, type Rig, sorted, startRig, until } from "../kit/index.ts";

/** Two further attempts, and no wait over a second: the bounds that these tests work with. */
const upstream = { retries: 2, retry_after_max: "1s" };

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: { upstream },
    providers: (simulators) => {
      const entry = (keys: string[]): object => ({
        kind: "openai",
        base_url: simulators.providers.openai,
        api_keys: keys,
      });
      return {
        pair: entry(["key-one", "key-two"]),
        refused: entry(["key-old", "key-good"]),
        limited: entry(["key-busy", "key-free"]),
        broke: entry(["key-empty", "key-full"]),
        allbad: entry(["key-bad-1", "key-bad-2"]),
        down: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "unused" },
      };
    },
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const hello = (model: string, more: object = {}): object => ({
  model,
  messages: [{ role: "user", content: "Hello!" }],
  ...more,
});

/** The keys of the attempts, in their order. */
const keysUsed = (): string[] =>
  rig.simulators.requests().map((request) => (request.headers["authorization"] ?? "").replace("Bearer ", ""));

const helloCosts = 25_000n;

let calls = 0;

/** A call to a separate model, so that its attempts can be counted. */
async function callWith(fault: string, more: object = {}) {
  calls += 1;
  const model = `gpt-4o-mini-${calls}.`;
  const caller = await rig.caller();
  const startedAt = performance.now();
  const answer = await caller.chat(hello(`openai/${model}+${fault}`, more));
  const text = await answer.text();
  const milliseconds = performance.now() - startedAt;
  return { status: answer.status, text, milliseconds, requests: rig.received(model), spent: await caller.closed() };
}

/** The same for whole and streamed answers, and for every fault, side by side: some of them wait. */
async function eachFault(
  faults: readonly string[],
  check: (call: Awaited<ReturnType<typeof callWith>>, fault: string) => void,
): Promise<void> {
  const checked = faults.flatMap((fault) =>
    [false, true].map(async (stream) => {
      const call = await callWith(fault, { stream });
      try {
        check(call, fault);
      } catch (cause) {
        throw new Error(`${fault}, streamed: ${stream}: ${String(cause)}`, { cause });
      }
    }),
  );
  await Promise.all(checked);
}

describe("another attempt follows", () => {
  test("if the upstream broke or is busy for a while: the client gets the second answer only, and pays once", () =>
    eachFault(
      [
        "status-500+times-1",
        "status-502+times-1",
        "html-502+times-1",
        "status-429+retry-after-0+times-1",
        "status-503+retry-after-0+times-1",
        "status-429+retry-after-1+times-1",
        "status-503+retry-after-1+times-1",
      ],
      ({ status, text, requests, milliseconds, spent }, fault) => {
        expect(status).toBe(200);
        expect(text).toContain("said:");
        expect(requests).toHaveLength(2);
        expect(requests[1]?.body).toBe(requests[0]?.body ?? "");
        expect(spent).toBe(helloCosts);
        // The wait that was named is kept.
        if (fault.includes("retry-after-1")) expect(milliseconds).toBeGreaterThan(990);
      },
    ));

  test("if the connection is reset before any byte", () =>
    eachFault(["connect-reset+times-1", "connect-reset+times-2"], ({ status, text, requests, spent }) => {
      expect(status).toBe(200);
      expect(text).toContain("said:");
      expect(requests.length).toBeGreaterThan(1);
      expect(spent).toBe(helloCosts);
    }));

  test("up to the cap: the third answer may still be the good one", () =>
    eachFault(["status-500+times-2"], ({ status, requests, spent }) => {
      expect(status).toBe(200);
      expect(requests).toHaveLength(3);
      expect(spent).toBe(helloCosts);
    }));

  test("with every provider", () =>
    eachProvider(async (provider, model) => {
      const caller = await rig.caller();
      const answer = await caller.chat(hello(`${model}+status-500+times-1`));
      expect(answer.status).toBe(200);
      await answer.text();
      expect(rig.simulators.requests().filter((request) => request.provider === provider)).toHaveLength(2);
      expect(await caller.closed()).toBeGreaterThan(0n);
    }));
});

describe("no attempt follows", () => {
  test("beyond the cap: the last answer is relayed", () =>
    eachFault(["status-500", "status-502", "status-429+retry-after-0"], ({ status, text, requests, spent }, fault) => {
      expect(status).toBe(Number(/status-(\d+)/.exec(fault)?.[1]));
      expect(text).toContain('"error"');
      expect(requests).toHaveLength(1 + upstream.retries);
      expect(spent).toBe(0n);
    }));

  test("after failures that another attempt would not fix, or not soon enough", () =>
    eachFault(
      [
        "status-400",
        "status-403",
        "status-404",
        "status-422",
        "status-504",
        // A limit and an outage that name no wait, and waits over the bound.
        "status-429",
        "status-503",
        "status-429+retry-after-2",
        "status-503+retry-after-60",
      ],
      ({ status, requests, spent, milliseconds }, fault) => {
        expect(status).toBe(Number(/status-(\d+)/.exec(fault)?.[1]));
        expect(requests).toHaveLength(1);
        expect(spent).toBe(0n);
        // None waits for the two seconds that one of them names.
        expect(milliseconds).toBeLessThan(1_900);
      },
    ));

  test("once an answer has begun", () =>
    eachFault(["truncate", "malformed", "empty", "cut-2"], ({ requests }) => {
      expect(requests).toHaveLength(1);
    }));

  test("for a client that has hung up between two attempts", async () => {
    const caller = await rig.caller();
    const leaving = new AbortController();
    const model = "openai/gpt-4o-mini+status-503+retry-after-1+times-1";
    const call = caller.chat(hello(model, { stream: true }), { signal: leaving.signal });
    await until("the first attempt has been answered", () => rig.simulators.requests()[0]?.outcome === "answered");
    leaving.abort();
    await call.catch(() => undefined);
    expect(await caller.closed()).toBe(0n);
    expect(rig.simulators.total()).toBe(1);
  });
});

test.each([false, true])("an upstream that is down gives 502 after its attempts (streamed: %p)", async (stream) => {
  const caller = await rig.caller();
  const startedAt = performance.now();
  const answer = await caller.chat(hello(`down/model-${stream}`, { stream }));
  expect(answer.status).toBe(502);
  expect(await answer.json()).toEqual({
    error: {
      message: "The upstream of down could not be reached.",
      type: "upstream_error",
      code: "upstream_unreachable",
      param: null,
    },
  });
  // Two waits, of at least 125 and 250 ms, lie between the attempts.
  expect(performance.now() - startedAt).toBeGreaterThan(370);
  expect(await caller.closed()).toBe(0n);
});

describe("several keys", () => {
  test("are used in turn", async () => {
    const caller = await rig.caller();
    for (let call = 0; call < 4; call += 1) await (await caller.chat(hello("pair/gpt-4o-mini"))).text();
    expect(sorted(keysUsed())).toEqual(["key-one", "key-one", "key-two", "key-two"]);
    expect(keysUsed()[0]).not.toBe(keysUsed()[1] ?? "");
  });

  test.each([
    ["401", "refused", "key-old", "key-good"],
    ["429", "limited", "key-busy", "key-free"],
  ])("a key that answers %s rests at once, and the call succeeds with the other", async (status, prefix, bad, good) => {
    const model = `${prefix}/gpt-4o-mini+status-${status}+key-${bad}`;
    for (const stream of [false, true, false]) {
      const caller = await rig.caller();
      const answer = await caller.chat(hello(model, { stream }));
      expect(answer.status).toBe(200);
      await answer.text();
      expect(await caller.closed()).toBe(helloCosts);
    }
    // The bad key was tried once at most; it rests while the others are used.
    expect(keysUsed().filter((key) => key === bad)).toHaveLength(1);
    expect(keysUsed().filter((key) => key === good)).toHaveLength(3);
  });

  test("if all are refused, each is tried once, and the error is about the gateway's key", async () => {
    const caller = await rig.caller();
    const answer = await caller.chat(hello("allbad/gpt-4o-mini+status-401"));
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { code: "provider_key_refused" } });
    expect(sorted(keysUsed())).toEqual(["key-bad-1", "key-bad-2"]);
    expect(await caller.closed()).toBe(0n);
  });
});
