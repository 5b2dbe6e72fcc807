import { type BodySink, CallAborter, GatewayError, type ReplyBody } from "../core/index.ts";
import type { Ticker } from "../streaming/index.ts";
import type { AskingClient } from "./ask-upstream.ts";
import { relayedHeaders } from "./headers.ts";
import { type SendDependencies, sendUpstream, type UpstreamCall } from "./send.ts";
import { CallWatchdog } from "./watchdog.ts";

export interface DownloadDependencies extends SendDependencies {
  ticker: Ticker;
}

/** Headers of a client that ask for a part of a file. */
export const RANGE_HEADERS: readonly string[] = ["range", "if-range"];

/** Headers of a file, besides those that any answer is relayed with. */
const FILE_HEADERS = ["content-length", "content-range", "accept-ranges", "etag", "last-modified"];

/**
 * Sends a request that is free at the upstream, and relays the bytes of its answer as fast as the client reads them; no
 * more than some chunks are in memory. An upstream's error is relayed. Throws as `sendUpstream` does. For headers of the
 * client to be forwarded, the target's operation must name them.
 */
export async function downloadUpstream(
  deps: DownloadDependencies,
  client: AskingClient,
  question: Pick<UpstreamCall, "target" | "subpath" | "pinnedKeyId">,
): Promise<Response> {
  const { ticker, send } = deps;
  const watchdog = new CallWatchdog({ ticker, abort: new CallAborter(), client, clientGoneGraceMs: 0 });
  let isRelayed = false;
  try {
    const reply = await sendUpstream(deps, {
      ...question,
      method: "GET",
      accept: "*/*",
      clientHeaders: client.headers,
      passesThrough: true,
      watchdog,
    });
    const headers = relayedHeaders(reply.headers, question.target.route.sandbox);
    if (reply.kind === "failed") return new Response(reply.body, { status: reply.status, headers });
    for (const name of FILE_HEADERS) {
      const value = reply.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    isRelayed = true;
    const body = new ReadableStream<Uint8Array>(new Download(reply.body, { watchdog, idleMsMax: send.idleMsMax }), {
      highWaterMark: BUFFERED_BYTES,
      size: (chunk) => chunk?.byteLength ?? 0,
    });
    return new Response(body, { status: reply.status, headers });
  } finally {
    if (!isRelayed) watchdog.end();
  }
}

/** Bytes that may wait for a client before the upstream is paused. */
const BUFFERED_BYTES = 256 * 1024;

interface DownloadOptions {
  watchdog: CallWatchdog;
  idleMsMax: number;
}

/** The bytes of a reply as a stream. While the client does not read, the upstream waits, and is not taken for silent. */
class Download implements BodySink {
  readonly #body: ReplyBody;
  readonly #options: DownloadOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isPaused = false;

  constructor(body: ReplyBody, options: DownloadOptions) {
    this.#body = body;
    this.#options = options;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#expect();
    this.#body.flowTo(this);
  }

  pull(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#expect();
    this.#body.resume();
  }

  cancel(): void {
    this.#options.watchdog.end();
    this.#body.cancel();
  }

  onBytes(bytes: Buffer): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    controller.enqueue(bytes);
    if ((controller.desiredSize ?? 0) > 0) {
      this.#options.watchdog.restart();
      return;
    }
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#options.watchdog.stopWaiting();
    this.#body.pause();
  }

  onEnd(): void {
    this.#options.watchdog.end();
    this.#controller?.close();
  }

  onFailure(cause: unknown): void {
    this.#options.watchdog.end();
    this.#controller?.error(new GatewayError("upstream_interrupted", "The upstream's answer broke off.", { cause }));
  }

  #expect(): void {
    this.#options.watchdog.expect(this.#options.idleMsMax, "The upstream's answer fell silent.");
  }
}
