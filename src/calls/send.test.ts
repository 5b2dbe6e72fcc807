import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { type Fetch, GatewayError } from "../core/index.ts";
import { createProvider } from "../providers/index.ts";
import { KeyRing, type Target } from "../routing/index.ts";
import { Ticker } from "../streaming/index.ts";
import { askByFetch, BadReply, collectBody } from "../upstream/index.ts";
import { Patience } from "./patience.ts";
import { type SendOptions, sendUpstream, type UpstreamAnswer } from "./send.ts";

type Fetched = { url: string; init: RequestInit; key: string | undefined };
/** What the upstream does to one request. */
type Behaviour = (init: RequestInit) => Response | Promise<Response>;

const provider = createProvider({ kind: "openai", baseUrl: "https://upstream.example/v1" });
const firstKey = "sk-first-of-the-keys";
const secondKey = "sk-second-of-the-keys";

let now: number;
let ticker: Ticker;
let fetched: Fetched[];
let abort: AbortController;
let keys: KeyRing;
/** The call under test, and whether it has ended. */
const progress = { settled: false };

beforeEach(() => {
  jest.useFakeTimers();
  now = 1_000_000;
  ticker = new Ticker(1_000, () => now);
  fetched = [];
  abort = new AbortController();
  keys = new KeyRing([firstKey], () => now);
  progress.settled = false;
});
afterEach(() => {
  ticker.stop();
  jest.useRealTimers();
});

/** Lets everything run that waits for no timer. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

async function advance(milliseconds: number): Promise<void> {
  now += milliseconds;
  jest.advanceTimersByTime(milliseconds);
  await turns();
}

/** Advances until the call has settled, within a bound. */
async function until(milliseconds: number, step = 125): Promise<void> {
  await turns();
  for (let passed = 0; passed < milliseconds && !progress.settled; passed += step) await advance(step);
  expect(progress.settled).toBe(true);
}

interface Setting {
  behaviours: readonly Behaviour[];
  options?: Partial<SendOptions>;
  fraction?: number;
}

function send({ behaviours, options, fraction = 0 }: Setting): Promise<UpstreamAnswer> {
  const fetch: Fetch = async (url, init) => {
    const behave = behaviours[Math.min(fetched.length, behaviours.length - 1)];
    const key = new Headers(init.headers).get("authorization")?.replace("Bearer ", "");
    fetched.push({ url, init, key });
    if (behave === undefined) throw new Error("no behaviour");
    return behave(init);
  };
  const environment = { clock: () => now, randomFraction: () => fraction, ask: askByFetch(fetch) };
  const { chat } = provider.operations;
  if (chat === undefined) throw new Error("no chat");
  const target: Target = {
    route: {
      prefix: "up",
      aliases: [],
      provider,
      baseUrl: "https://upstream.example/v1",
      keys,
      sandbox: false,
      keyToSet: undefined,
    },
    operation: chat,
    modelId: "up/m",
    model: "m",
    price: {
      rates: {} as Target["price"]["rates"],
      works: new Set(),
      contextWindow: undefined,
      maxOutputTokens: undefined,
      source: "test",
    },
  };
  const call = {
    target,
    body: `{"model":"m"}`,
    accept: "application/json",
    clientHeaders: new Headers({ "x-client-request-id": "abc" }),
    passesThrough: true,
    patience: new Patience({ ticker, abort, client: new Request("http://gateway.example"), lingersMs: 0 }),
  };
  const defaults = { retries: 2, retryAfterMsMax: 10_000, firstByteMsMax: 60_000, idleMsMax: 30_000 };
  const sent = sendUpstream(environment, { ...defaults, ...options }, call);
  const settle = (): void => {
    progress.settled = true;
  };
  sent.then(settle, settle);
  return sent;
}

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

const ok: Behaviour = () => Response.json({ id: "chatcmpl-1" });
const down: Behaviour = () => Promise.reject(new TypeError("connection refused"));
const fails =
  (status: number, headers: Record<string, string> = {}, body = `{"error":{"message":"no"}}`): Behaviour =>
  () =>
    new Response(body, { status, headers });
/** Nothing comes until the call is ended. */
const silent: Behaviour = ({ signal }) =>
  new Promise((_resolve, reject) =>
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
  );

describe("one attempt", () => {
  test("goes to the operation's place with the key, and follows no redirection", async () => {
    const answer = await send({ behaviours: [ok] });
    expect(answer).toMatchObject({ ok: true, reply: { status: 200 } });
    const [call] = fetched;
    expect(call).toMatchObject({
      url: "https://upstream.example/v1/chat/completions",
      init: { method: "POST", body: `{"model":"m"}`, redirect: "manual" },
      key: firstKey,
    });
    expect(new Headers(call?.init.headers).get("x-client-request-id")).toBe("abc");
  });

  test("leaves a success unread, for the relay", async () => {
    const answer = await send({ behaviours: [ok] });
    if (!answer.ok) throw new Error("no success");
    expect(await collectBody(answer.reply.body, 100)).toEqual({ bytes: Buffer.from(`{"id":"chatcmpl-1"}`) });
  });

  test.each([[400], [402], [403], [404], [409], [413], [422], [429], [503], [504], [529]])(
    "that fails with %d and names no wait is the last",
    async (status) => {
      expect(await send({ behaviours: [fails(status)] })).toMatchObject({
        ok: false,
        status,
        body: `{"error":{"message":"no"}}`,
      });
      expect(fetched).toHaveLength(1);
    },
  );

  test("that is redirected is the last: the key goes nowhere else", async () => {
    expect(await send({ behaviours: [fails(302, { location: "https://elsewhere.example/" })] })).toMatchObject({
      ok: false,
      status: 302,
    });
    expect(fetched).toHaveLength(1);
  });

  test("without a key is our own mistake", async () => {
    keys = new KeyRing([], () => now);
    const reason: unknown = await send({ behaviours: [ok] }).catch((thrown: unknown) => thrown);
    expect(reason).toEqual(new Error("provider up is routed without a key"));
    expect(fetched).toEqual([]);
  });
});

describe("further attempts", () => {
  test("follow a failed connection, after waits that double", async () => {
    const sent = send({ behaviours: [down, down, ok] });
    await turns();
    expect(fetched).toHaveLength(1);
    await advance(124);
    expect(fetched).toHaveLength(1);
    await advance(1);
    expect(fetched).toHaveLength(2);
    await advance(249);
    expect(fetched).toHaveLength(2);
    await advance(1);
    expect(await sent).toMatchObject({ ok: true });
    expect(fetched).toHaveLength(3);
  });

  test("wait longer by chance, at most twice as long, and never beyond the cap", async () => {
    const waits = async (fraction: number): Promise<number[]> => {
      fetched = [];
      const sent = refusalOf(send({ behaviours: [down], options: { retries: 7 }, fraction }));
      const measured: number[] = [];
      await turns();
      for (let attempt = 1; attempt <= 7; attempt += 1) {
        const before = now;
        while (fetched.length === attempt) await advance(25);
        measured.push(now - before);
      }
      await sent;
      return measured;
    };
    expect(await waits(0)).toEqual([125, 250, 500, 1_000, 2_000, 2_000, 2_000]);
    expect(await waits(0.999_999)).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  test("are not made where something came that is no answer", async () => {
    const bad: Behaviour = () => Promise.reject(new BadReply("its head broke off"));
    const refusal = await refusalOf(send({ behaviours: [bad, ok] }));
    expect(refusal).toMatchObject({ code: "upstream_invalid_answer" });
    expect(fetched).toHaveLength(1);
  });

  test("end with upstream_unreachable where no connection ever came about", async () => {
    const sent = refusalOf(send({ behaviours: [down] }));
    await turns();
    await advance(125);
    await advance(250);
    expect(await sent).toMatchObject({
      code: "upstream_unreachable",
      status: 502,
      cause: new TypeError("connection refused"),
    });
    expect(fetched).toHaveLength(3);
  });

  test.each([[500], [502]])("follow a %d, and its last body is relayed", async (status) => {
    const sent = send({
      behaviours: [fails(status, {}, "first"), fails(status, {}, "second"), fails(status, {}, "third")],
    });
    await turns();
    await advance(125);
    await advance(250);
    expect(await sent).toMatchObject({ ok: false, status, body: "third" });
    expect(fetched).toHaveLength(3);
  });

  test.each([[429], [503], [529], [498]])("follow a %d after the wait that it names", async (status) => {
    const sent = send({ behaviours: [fails(status, { "retry-after": "3" }), ok] });
    await turns();
    await advance(2_999);
    expect(fetched).toHaveLength(1);
    await advance(1);
    expect(await sent).toMatchObject({ ok: true });
  });

  test("don't follow a wait over the bound: the client may have the time", async () => {
    const behaviours = [fails(429, { "retry-after-ms": "10001" })];
    const answer = await send({ behaviours });
    expect(answer.ok ? undefined : answer.headers.get("retry-after-ms")).toBe("10001");
    expect(fetched).toHaveLength(1);
  });

  test("follow a wait of exactly the bound", async () => {
    const sent = send({ behaviours: [fails(429, { "retry-after-ms": "10000" }), ok] });
    await turns();
    await advance(10_000);
    expect(await sent).toMatchObject({ ok: true });
  });

  test("are as many as configured, none included", async () => {
    expect(await send({ behaviours: [fails(500)], options: { retries: 0 } })).toMatchObject({ ok: false, status: 500 });
    expect(fetched).toHaveLength(1);
    fetched = [];
    expect((await refusalOf(send({ behaviours: [down], options: { retries: 0 } }))).code).toBe("upstream_unreachable");
    expect(fetched).toHaveLength(1);
  });

  test("send the same body again", async () => {
    const sent = send({ behaviours: [down, ok] });
    await turns();
    await advance(125);
    await sent;
    expect(fetched.map(({ init }) => init.body)).toEqual([`{"model":"m"}`, `{"model":"m"}`]);
  });
});

describe("several keys", () => {
  beforeEach(() => {
    keys = new KeyRing([firstKey, secondKey], () => now);
  });

  test.each([
    ["refused", fails(401)],
    ["limited", fails(429)],
    ["out of quota", fails(429, {}, `{"error":{"code":"insufficient_quota"}}`)],
  ])("a key that is %s rests, and the other is tried at once", async (_title, behaviour) => {
    const sent = send({ behaviours: [behaviour, ok] });
    await until(1, 1);
    expect(await sent).toMatchObject({ ok: true });
    expect(fetched.map(({ key }) => key)).toEqual([firstKey, secondKey]);
    // The next calls leave the resting key alone.
    await send({ behaviours: [ok] });
    await send({ behaviours: [ok] });
    expect(fetched.slice(2).map(({ key }) => key)).toEqual([secondKey, secondKey]);
  });

  test("a limited key rests for the time it was told, and is used again", async () => {
    const limitedAt = now;
    const limited = send({ behaviours: [fails(429, { "retry-after": "20" }), ok] });
    await until(1, 1);
    await limited;
    const used = async (): Promise<Set<string | undefined>> => {
      fetched = [];
      await send({ behaviours: [ok] });
      await send({ behaviours: [ok] });
      return new Set(fetched.map(({ key }) => key));
    };
    now = limitedAt + 19_999;
    expect(await used()).toEqual(new Set([secondKey]));
    now = limitedAt + 20_000;
    expect(await used()).toEqual(new Set([firstKey, secondKey]));
  });

  test("when all of them are refused, the refusal is the answer", async () => {
    const sent = send({ behaviours: [fails(401)], options: { retries: 5 } });
    await until(1, 1);
    expect(await sent).toMatchObject({ ok: false, status: 401 });
    expect(fetched.map(({ key }) => key)).toEqual([firstKey, secondKey]);
  });

  test("an error that is no key's fault is not tried on the other", async () => {
    await send({ behaviours: [fails(400)] });
    expect(fetched).toHaveLength(1);
  });

  test("no key is repeated to the client, not even another one", async () => {
    const body = `{"error":{"message":"Incorrect API key provided: ${firstKey}. Not ${secondKey} either."}}`;
    const answer = await send({ behaviours: [fails(400, {}, body)] });
    expect(answer).toMatchObject({
      body: `{"error":{"message":"Incorrect API key provided: [redacted]. Not [redacted] either."}}`,
    });
  });
});

describe("the first byte", () => {
  test("that does not come in time ends the call, without another attempt", async () => {
    const sent = refusalOf(send({ behaviours: [silent] }));
    await turns();
    await advance(59_000);
    expect(progress.settled).toBe(false);
    await advance(1_000);
    expect(await sent).toMatchObject({ code: "upstream_timeout", status: 502 });
    expect(fetched).toHaveLength(1);
    expect(fetched[0]?.init.signal?.aborted).toBe(true);
  });

  test("once it came, no time-out is left behind", async () => {
    await send({ behaviours: [ok] });
    await advance(120_000);
    expect(abort.signal.aborted).toBe(false);
  });

  test("has its time anew in each attempt", async () => {
    const late: Behaviour = async () => {
      await new Promise<void>((resolve) => setTimeout(resolve, 50_000));
      return new Response("", { status: 500 });
    };
    const sent = send({ behaviours: [late, late, ok] });
    await turns();
    await until(100_500);
    expect(await sent).toMatchObject({ ok: true });
  });
});

describe("a call that is ended from outside", () => {
  const gone = new GatewayError("upstream_interrupted", "The client went away.");

  test("while it waits for an answer throws the reason", async () => {
    const sent = refusalOf(send({ behaviours: [silent] }));
    await turns();
    abort.abort(gone);
    expect(await sent).toBe(gone);
    expect(fetched).toHaveLength(1);
  });

  test("while it waits for the next attempt makes none", async () => {
    const sent = refusalOf(send({ behaviours: [fails(429, { "retry-after": "5" }), ok] }));
    await turns();
    abort.abort(gone);
    expect(await sent).toBe(gone);
    await advance(60_000);
    expect(fetched).toHaveLength(1);
  });

  test("before a wait begins makes none either", async () => {
    const failing: Behaviour = () => {
      abort.abort(gone);
      return new Response("", { status: 500 });
    };
    expect(await refusalOf(send({ behaviours: [failing, ok] }))).toBe(gone);
    expect(fetched).toHaveLength(1);
  });
});

describe("the body of an error", () => {
  test("that falls silent is not waited for longer than the longest silence", async () => {
    const stalling: Behaviour = ({ signal }) =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(Buffer.from("half"));
            signal?.addEventListener("abort", () => controller.error(signal.reason));
          },
        }),
        { status: 400 },
      );
    const sent = send({ behaviours: [stalling] });
    await turns();
    await advance(29_000);
    expect(progress.settled).toBe(false);
    await advance(1_000);
    expect(await sent).toMatchObject({ ok: false, status: 400, body: "" });
  });

  test("that breaks off is left out: the status is known", async () => {
    const breaking: Behaviour = () => {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("reset")) });
      return new Response(body, { status: 400 });
    };
    expect(await send({ behaviours: [breaking] })).toMatchObject({ ok: false, status: 400, body: "" });
  });

  test("over the bound is left out", async () => {
    const huge = fails(400, {}, "x".repeat(256 * 1024 + 1));
    expect(await send({ behaviours: [huge] })).toMatchObject({ ok: false, status: 400, body: "" });
  });

  test("may be missing", async () => {
    const empty: Behaviour = () => new Response(null, { status: 404 });
    expect(await send({ behaviours: [empty] })).toMatchObject({ ok: false, status: 404, body: "" });
  });
});
