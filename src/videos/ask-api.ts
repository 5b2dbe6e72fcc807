/** One request to an upstream's video API, and its answer. */
import { CallWatchdog } from "../charges/index.ts";
import { CallAborter, GatewayError, type JsonObject, limits, parseObject, type ReplyHeaders } from "../core/index.ts";
import type { UpstreamOperation, VideoApi } from "../providers/index.ts";
import type { UpstreamRoute } from "../routing/index.ts";
import {
  type FailedReply,
  type SendDependencies,
  sendUpstream,
  type StreamReply,
  type UpstreamCall,
} from "../sending/index.ts";
import type { Ticker } from "../streaming/index.ts";
import { type Collected, collectBody } from "../upstream/index.ts";

export interface AskApiDependencies extends SendDependencies {
  ticker: Ticker;
}

/** A success. */
export interface ApiAnswer {
  kind: "answer";
  headers: ReplyHeaders;
  /** Empty if the upstream has sent no body. */
  json: JsonObject;
  keyId: string;
}

type Question = Pick<
  UpstreamCall,
  "target" | "method" | "subpath" | "body" | "pinnedKeyId" | "workId" | "work" | "hasNext" | "onFailure"
> & {
  /** Of the creation of a job; anything else may be asked twice. */
  repeats?: UpstreamCall["repeats"];
  /** Only for a question that a client has asked. */
  clientHeaders?: Headers;
  /** The time for all of it, in milliseconds. */
  totalMsMax: number;
  /** Its abort ends the question. */
  signal?: AbortSignal | undefined;
};

const noHeaders = new Headers();

/** Ends by time only: what a job costs does not depend on who still waits for an answer. */
const nobody = { signal: new AbortController().signal };

/**
 * Asks and reads the whole answer. Throws as `sendUpstream` does, `upstream_interrupted` if the answer breaks off and
 * `upstream_invalid_answer` if it is neither empty nor a JSON object.
 */
export async function askApi(
  deps: AskApiDependencies,
  { clientHeaders = noHeaders, totalMsMax, signal, ...question }: Question,
): Promise<ApiAnswer | FailedReply> {
  const abort = new CallAborter();
  const watchdog = new CallWatchdog({ ticker: deps.ticker, abort, client: nobody, clientGoneGraceMs: 0 });
  watchdog.limitTotal(totalMsMax);
  const stop = (): void => abort.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  try {
    const reply = await sendUpstream(deps, {
      repeats: "freely",
      ...question,
      accept: "application/json",
      clientHeaders,
      passesThrough: true,
      watchdog,
    });
    if (reply.kind === "failed") return reply;
    watchdog.expect(deps.send.idleMsMax, "The upstream's answer fell silent.");
    const collected = await collect(reply, watchdog);
    const text = "bytes" in collected ? collected.bytes.toString("utf8") : undefined;
    const json = text === undefined ? undefined : readAnswer(text, question.target);
    if (json === undefined) {
      throw new GatewayError("upstream_invalid_answer", "The upstream answered with something that is no video job.");
    }
    return { kind: "answer", headers: reply.headers, json, keyId: reply.keyId };
  } finally {
    signal?.removeEventListener("abort", stop);
    watchdog.end();
  }
}

/** A job's own error may repeat the key. */
function readAnswer(text: string, { route }: Question["target"]): JsonObject | undefined {
  const answer = text.trim() === "" ? {} : parseObject(text);
  const isFailure = answer?.["error"] !== undefined && answer["error"] !== null;
  return isFailure ? parseObject(route.keys.redact(text)) : answer;
}

async function collect({ body }: StreamReply, watchdog: CallWatchdog): Promise<Collected> {
  try {
    return await collectBody(body, limits.videoAnswerBytesMax, () => watchdog.restart());
  } catch (cause) {
    const { signal } = watchdog.abort;
    if (signal.aborted) throw signal.reason;
    throw new GatewayError("upstream_interrupted", "The upstream's answer broke off.", { cause });
  }
}

/** The requests about jobs, as an operation of their provider. */
const operations = new WeakMap<VideoApi, UpstreamOperation>();

/** A route's video jobs as a target. Throws 404 if the provider has none. */
export function jobsOf(route: UpstreamRoute): { target: UpstreamCall["target"]; api: VideoApi } {
  const { videos: api } = route.provider;
  if (api === undefined) {
    throw new GatewayError("unsupported_operation", `The provider ${route.prefix} makes no videos.`);
  }
  let operation = operations.get(api);
  if (operation === undefined) {
    operation = { path: api.path, edits: () => [], readUsage: () => undefined, isFailure: () => false };
    operations.set(api, operation);
  }
  return { target: { route, operation }, api };
}
