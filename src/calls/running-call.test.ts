import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatCredits, GatewayError, type ObservedUsage } from "../core/index.ts";
import { chatCodec, type ChatRequest, chatRequest } from "../dialects/index.ts";
import { createProvider } from "../providers/index.ts";
import { KeyRing, type Target } from "../routing/index.ts";
import { ChargeScene, heldByRequest, priceOf, request } from "./__fixtures__/charge-scene.ts";
import { Patience } from "./patience.ts";
import { KeptBody } from "./retry-key.ts";
import { type CallResult, RunningCall } from "./running-call.ts";

let scene: ChargeScene;
let lines: object[];
let ends: number;
beforeEach(async () => {
  scene = await ChargeScene.start();
  lines = [];
  ends = 0;
});
afterEach(() => scene.stop());

const observed: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;
const retry = { key: "k", fingerprint: "f" };

function targetOf(): Target {
  const provider = createProvider({ kind: "openai", baseUrl: "https://upstream.example/v1" });
  const { chat } = provider.operations;
  if (chat === undefined) throw new Error("no chat");
  const route = {
    prefix: "up",
    aliases: ["alias"],
    provider,
    baseUrl: "https://upstream.example/v1",
    keys: new KeyRing(["sk-1"], () => scene.now),
    sandbox: false,
    keyToSet: undefined,
  };
  return { route, operation: chat, modelId: "alias/m", model: "m", price: priceOf("up") };
}

async function start(): Promise<RunningCall<ChatRequest>> {
  const { bound } = request();
  const client = new Request("http://gateway.example");
  const note = (fields: object): void => void lines.push(fields);
  return new RunningCall({
    incoming: {
      request: client,
      requestId: "req_1",
      principal: {
        tokenId: "t1",
        user: "u",
        accountId: "user:u",
        service: false,
        admin: false,
        models: undefined,
        rates: undefined,
        expiresAt: undefined,
      },
    },
    route: { operations: ["chat"], surface: "openai", body: chatRequest, codec: chatCodec },
    streamed: true,
    bound,
    files: undefined,
    retry,
    target: targetOf(),
    charge: await scene.open({ retry }),
    patience: new Patience({ ticker: scene.ticker, abort: new AbortController(), client, lingersMs: 0 }),
    startedAt: performance.now(),
    at: scene.now,
    logger: { info: note, warn: note, error: note, flush: () => undefined },
    onEnd: () => {
      ends += 1;
    },
  });
}

const kept = (): CallResult["answer"] => ({
  headers: { "content-type": "text/x" },
  body: new KeptBody().add(Buffer.from("said")),
});
const complete = (): CallResult => ({ status: 200, outcome: "complete", observed, answer: kept() });

const last = () => scene.store.taken.at(-1);

describe("the end of a call", () => {
  test("charges it, writes its record and its line, keeps its answer, and is told", async () => {
    const call = await start();
    call.firstByte();
    await call.end(complete());
    expect(last()).toMatchObject({
      kind: "settle",
      amount: cost,
      record: {
        owner: "u",
        operation: "chat",
        dialect: "chat",
        provider: "up",
        model: "m",
        streamed: true,
        status: 200,
        outcome: "complete",
        usage: observed.usage,
        startedAt: scene.now,
      },
      answer: { status: 200, headers: [["content-type", "text/x"]], body: Buffer.from("said") },
    });
    expect(lines).toMatchObject([
      {
        request_id: "req_1",
        token_id: "t1",
        model: "alias/m",
        provider: "up",
        outcome: "complete",
        credits: "0.00002",
      },
    ]);
    expect(ends).toBe(1);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("that used nothing releases it, with a record all the same", async () => {
    const call = await start();
    const error = new GatewayError("upstream_unreachable", "no way");
    await call.end({ status: 502, outcome: "interrupted", error });
    expect(last()).toMatchObject({ kind: "release", record: { status: 502, outcome: "interrupted", usage: {} } });
    expect(lines).toMatchObject([{ outcome: "interrupted", credits: "0", error: "upstream_unreachable" }]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("counts once: the first", async () => {
    const call = await start();
    await Promise.all([
      call.end({ status: 200, outcome: "abandoned", observed }),
      call.end(complete()),
      call.end({ status: 500, outcome: "interrupted" }),
    ]);
    expect(scene.store.taken.map(({ kind }) => kind)).toEqual(["grant", "hold", "settle"]);
    expect(lines).toMatchObject([{ outcome: "abandoned" }]);
    expect(ends).toBe(1);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("is told before it is durable, and resolves when it is", async () => {
    const call = await start();
    const ending = call.end(complete());
    expect(ends).toBe(1);
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByRequest });
    await ending;
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test.each<CallResult["outcome"]>(["abandoned", "interrupted", "failed"])(
    "that is %s keeps no answer: what its client got was not whole",
    async (outcome) => {
      const call = await start();
      await call.end({ status: 200, outcome, observed, answer: kept() });
      expect(last()).toMatchObject({ kind: "settle", amount: cost });
      expect(last()).not.toHaveProperty("answer");
      // The key is free again.
      await scene.open({ id: "req_2", retry });
    },
  );
});

test("the first byte's time is counted from the request's arrival", async () => {
  const call = await start();
  await call.end(complete());
  expect(last()).toMatchObject({ record: { millisecondsToFirstByte: undefined } });
  const other = new RunningCall({ ...call.parts, startedAt: performance.now() - 500 });
  other.firstByte();
  expect(other.creditsOf(observed)).toBe(formatCredits(cost));
  await other.end(complete());
  const [, line] = lines as { first_byte_ms: number; ms: number }[];
  expect(line?.first_byte_ms).toBeGreaterThanOrEqual(500);
  expect(line?.ms).toBeGreaterThanOrEqual(line?.first_byte_ms ?? Infinity);
});
