import { type AbortListener, type BodySink, CallAborter, GatewayError, type ReplyHeaders } from "../core/index.ts";
import { answerWith, type AskDependencies, type AskingClient, type FreeRequest } from "./ask-upstream.ts";
import { INERT_HEADERS, relayedHeaders } from "./headers.ts";
import type { StreamReply } from "./reply.ts";
import { sendUpstream } from "./send.ts";
import { CallWatchdog } from "../charges/index.ts";

/** Bytes that may wait for a client before the upstream is paused. */
const WAITING_BYTES_MAX = 256 * 1024;

const byteLengthOf = (bytes: Uint8Array | undefined): number => bytes?.byteLength ?? 0;

/** Headers of a file, and of a part of it. */
const FILE_HEADERS = ["content-range", "accept-ranges", "etag", "last-modified"];

/**
 * Relays a file, or the requested range of it, while it arrives. An error of the upstream is relayed unchanged. Throws
 * as `sendUpstream` does; a download that breaks off later breaks off for its client as well.
 */
export async function downloadUpstream(
  deps: AskDependencies,
  client: AskingClient,
  question: FreeRequest,
): Promise<Response> {
  const { ticker, send } = deps;
  const watchdog = new CallWatchdog({ ticker, abort: new CallAborter(), client, clientGoneGraceMs: 0 });
  try {
    const reply = await sendUpstream(deps, {
      repeats: "freely",
      ...question,
      accept: "*/*",
      clientHeaders: client.headers,
      passesThrough: true,
      watchdog,
    });
    if (reply.kind === "failed") {
      watchdog.end();
      return answerWith(reply, question);
    }
    const body = new ReadableStream<Uint8Array>(new Download(reply, watchdog, send.idleMsMax), {
      highWaterMark: 0,
      size: byteLengthOf,
    });
    return new Response(body, { status: reply.status, headers: downloadHeaders(reply, question) });
  } catch (thrown) {
    watchdog.end();
    throw thrown;
  }
}

function downloadHeaders({ headers }: StreamReply, { target }: FreeRequest): Record<string, string> {
  const relayed = relayedHeaders(headers, target.route);
  for (const name of FILE_HEADERS) {
    const value = headers.get(name);
    if (value !== null) relayed[name] = target.route.keys.redact(value);
  }
  const length = lengthOf(headers);
  return { ...relayed, ...(length === undefined ? {} : { "content-length": length }), ...INERT_HEADERS };
}

/** The length of a body that was not decoded. */
function lengthOf(headers: ReplyHeaders): string | undefined {
  const encoding = headers.get("content-encoding") ?? "identity";
  return encoding === "identity" ? (headers.get("content-length") ?? undefined) : undefined;
}

/** Reads only as much as the client takes. */
class Download implements BodySink, AbortListener {
  readonly #body: StreamReply["body"];
  readonly #watchdog: CallWatchdog;
  readonly #idleMsMax: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #state: "new" | "reading" | "paused" | "ended" = "new";

  constructor({ body }: StreamReply, watchdog: CallWatchdog, idleMsMax: number) {
    this.#body = body;
    this.#watchdog = watchdog;
    this.#idleMsMax = idleMsMax;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#watchdog.abort.signal.addEventListener("abort", this);
    this.#awaitClient();
  }

  pull(): void {
    const state = this.#state;
    if (state !== "new" && state !== "paused") return;
    this.#state = "reading";
    this.#watchdog.expect(this.#idleMsMax, "The upstream's answer fell silent.");
    if (state === "new") this.#body.flowTo(this);
    else this.#body.resume();
  }

  /** The client disconnected. */
  cancel(): void {
    if (this.#end()) this.#watchdog.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    this.#body.cancel();
  }

  onBytes(bytes: Buffer): void {
    if (this.#state === "ended") return;
    this.#watchdog.restart();
    this.#controller?.enqueue(bytes);
    if (this.#state !== "reading" || (this.#controller?.desiredSize ?? 0) >= -WAITING_BYTES_MAX) return;
    this.#state = "paused";
    this.#body.pause();
    this.#awaitClient();
  }

  onEnd(): void {
    if (this.#end()) this.#controller?.close();
  }

  onFailure(cause: unknown): void {
    if (this.#end()) this.#controller?.error(cause);
  }

  /** The call was aborted; a body that is not being read does not report that. */
  handleEvent(): void {
    this.onFailure(this.#watchdog.abort.signal.reason);
    this.#body.cancel();
  }

  #awaitClient(): void {
    this.#watchdog.expect(this.#idleMsMax, "The download was not read for too long.");
  }

  /** Whether it had not ended before. */
  #end(): boolean {
    if (this.#state === "ended") return false;
    this.#state = "ended";
    this.#watchdog.abort.signal.removeEventListener("abort", this);
    this.#watchdog.end();
    return true;
  }
}
