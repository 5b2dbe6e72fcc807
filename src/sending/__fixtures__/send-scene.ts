import { expect, jest } from "bun:test";
import type { AttemptReport } from "../../charges/index.ts";
import { type Fetch, GatewayError } from "../../core/index.ts";
import { createProvider } from "../../providers/index.ts";
import { type Circuits, KeyPool, type Target } from "../../routing/index.ts";
import { Ticker } from "../../streaming/index.ts";
import { askByFetch } from "../../upstream/index.ts";
import type { RepeatRule } from "../repeat-rule.ts";
import type { FailedReply, StreamReply } from "../reply.ts";
import { type SendOptions, sendUpstream } from "../send.ts";
import { CallWatchdog } from "../../charges/index.ts";

/** The upstream's behaviour for one request. */
export type Behaviour = (init: RequestInit) => Response | Promise<Response>;

const provider = createProvider({ kind: "openai", baseUrl: "https://upstream.example/v1" });
export const firstKey = "sk-first-of-the-keys";
export const secondKey = "sk-second-of-the-keys";

interface Setting {
  behaviours: readonly Behaviour[];
  pinnedKeyId?: string;
  repeats?: RepeatRule;
  options?: Partial<SendOptions>;
  fraction?: number;
  method?: "GET" | "DELETE";
  circuits?: Circuits;
}

/** Requests to one upstream, with a clock that the test advances. */
export class SendScene {
  now = 1_000_000;
  readonly ticker: Ticker;
  readonly abort = new AbortController();
  fetched: { url: string; init: RequestInit; key: string | undefined }[] = [];
  readonly attempts: AttemptReport[] = [];
  /** Whether each request was sent, as the work was told. */
  readonly sent: boolean[] = [];
  keys: KeyPool;
  /** Whether the last request has ended. */
  settled = false;

  constructor() {
    jest.useFakeTimers();
    this.ticker = new Ticker(1_000, () => this.now);
    this.keys = this.keyPool(firstKey);
  }

  stop(): void {
    this.ticker.stop();
    jest.useRealTimers();
  }

  keyPool(...keys: string[]): KeyPool {
    return new KeyPool(keys, () => this.now);
  }

  /** Runs everything that does not wait for a timer. */
  async turns(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  async advance(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    jest.advanceTimersByTime(milliseconds);
    await this.turns();
  }

  /** Advances until the request has ended, within a bound. */
  async until(milliseconds: number, step = 125): Promise<void> {
    await this.turns();
    for (let passed = 0; passed < milliseconds && !this.settled; passed += step) await this.advance(step);
    expect(this.settled).toBe(true);
  }

  send({ behaviours, options, fraction = 0, pinnedKeyId, repeats = "freely", circuits, method }: Setting): Promise<StreamReply | FailedReply> {
    const fetch: Fetch = async (url, init) => {
      const behave = behaviours[Math.min(this.fetched.length, behaviours.length - 1)];
      const key = new Headers(init.headers).get("authorization")?.replace("Bearer ", "");
      this.fetched.push({ url, init, key });
      if (behave === undefined) throw new Error("no behaviour");
      return behave(init);
    };
    const environment = { clock: () => this.now, randomFraction: () => fraction, ask: askByFetch(fetch) };
    const defaults = { retries: 2, retryAfterMsMax: 10_000, connectMsMax: 10_000, firstByteMsMax: 60_000, idleMsMax: 30_000, totalMsMax: 600_000 };
    const observer = { attempted: (report: AttemptReport) => void this.attempts.push(report) };
    const { ticker, abort } = this;
    const client = new Request("http://gateway.example");
    const sent = sendUpstream(
      { environment, send: { ...defaults, ...options }, observer, circuits },
      {
        target: targetWith(this.keys),
        body: `{"model":"m"}`,
        accept: "application/json",
        clientHeaders: new Headers({ "x-client-request-id": "abc" }),
        passesThrough: true,
        workId: "req_1",
        ...(method && { method }),
        pinnedKeyId,
        repeats,
        work: { noteSent: (isSent) => void this.sent.push(isSent), lostCredits: () => "0.5" },
        watchdog: new CallWatchdog({ ticker, abort, client, clientGoneGraceMs: 0 }),
      },
    );
    this.settled = false;
    const settle = (): void => {
      this.settled = true;
    };
    sent.then(settle, settle);
    return sent;
  }
}

function targetWith(keys: KeyPool): Target {
  const { chat } = provider.operations;
  if (chat === undefined) throw new Error("no chat");
  return {
    route: {
      prefix: "up",
      aliases: [],
      provider,
      baseUrl: "https://upstream.example/v1",
      keys,
      sandbox: false,
      sharedStores: false,
    listing: { listed: [] },
      requiredVariable: undefined,
    },
    operation: chat,
    modelId: "up/m",
    model: "m",
    priceOf: () => undefined,
    price: {
      rates: {} as Target["price"]["rates"],
      serviceTiers: new Map(),
      inferenceGeos: new Map(),
      priced: new Set(),
      modalities: new Set(),
      contextWindow: undefined,
      maxOutputTokens: undefined,
      source: "test",
      markup: 1_000_000n,
    },
  };
}

export async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

export const ok: Behaviour = () => Response.json({ id: "chatcmpl-1" });
export const down: Behaviour = () => Promise.reject(new TypeError("connection refused"));
export const fails =
  (status: number, headers: Record<string, string> = {}, body = `{"error":{"message":"no"}}`): Behaviour =>
  () =>
    new Response(body, { status, headers });

/** Nothing arrives until the call is ended. */
export const silent: Behaviour = ({ signal }) =>
  new Promise((_resolve, reject) =>
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
  );
