import {
  addUsage,
  asksForCompaction,
  type JsonObject,
  type ModelFacts,
  listOf,
  objectOf,
  type ObservedUsage,
  type Usage,
  type UsageBucket,
} from "../../core/index.ts";
import { fitBody } from "../facts/fit-body.ts";
import type { OutputLimit, UpstreamOperation } from "../provider.ts";
import type { ToolReader } from "../tool-purchase.ts";
import { tierExtras } from "./chat-operation.ts";
import { fitsName, toolsOf, typeOf } from "./tools/hosted-tools.ts";
import { countOf, toldCount, uncountedOf } from "./json.ts";
import { type TierNames, tierOf, withTier } from "./terms.ts";

/** The differences between a Responses endpoint and OpenAI's. */
export interface ResponsesEndpoint {
  path: string;
  /** Whether `output_tokens` may exclude reasoning, so that the output is calculated from `total_tokens` (xAI). */
  outputFromTotal: boolean;
  /** The real price that the upstream reports, in nano-credits. */
  reportedCost: (usage: JsonObject) => bigint | undefined;
  /** Whether it may bill thought that a stream does not contain. */
  hidesThought: OutputLimit["hidesThought"];
  /** It stores no answers. */
  isStateless?: true;
  /** Whether there is a WebSocket at the same path. */
  hasSocket: boolean;
  facts?: (model: string) => ModelFacts;
  /** It runs responses with `background` after their requests. */
  runsInBackground?: true;
  /** It makes summaries of conversations itself (`compaction_trigger`): other endpoints are asked for one in words. */
  compacts?: true;
  /** Clients send it tools that it does not have, and namespaces: requests with those are translated. */
  hasForeignTools?: true;
  /** Further names of its service tiers. */
  tierNames?: TierNames;
  /** Reads the purchases of a request's tool. */
  readTool: ToolReader;
  /** What the hosted tools of an answer have done; `response` is the whole response. */
  readTools(response: JsonObject): Pick<ObservedUsage, "usage" | "others" | "containers">;
}

/** The smallest `max_output_tokens` of OpenAI's specification. */
const OUTPUT_TOKENS_MIN = 16;

/** The usage of a response, or of an event that contains one. */
function usageOf(answer: JsonObject): JsonObject | undefined {
  return objectOf(answer["usage"]) ?? objectOf(objectOf(answer["response"])?.["usage"]);
}

/**
 * Cache reads and writes are included in `input_tokens`, unless the cache read more than that: then the reads are
 * excluded (`docs/wire/xai.md`).
 */
function readResponsesUsage(answer: JsonObject, endpoint: ResponsesEndpoint): ObservedUsage | undefined {
  const usage = usageOf(answer) ?? {};
  const told = { input: toldCount(usage["input_tokens"]), output: toldCount(usage["output_tokens"]) };
  const { input = 0 } = told;
  const details = objectOf(usage["input_tokens_details"]);
  const cacheRead = countOf(details?.["cached_tokens"]);
  const uncached = cacheRead > input ? input : input - cacheRead;
  const written = Math.min(countOf(details?.["cache_write_tokens"]), uncached);
  const lifetimes = objectOf(details?.["cache_write_tokens_details"]);
  const cacheWrite1h = Math.min(countOf(lifetimes?.["ttl_12h_tokens"]), written);
  const read = mediaOf(details, uncached - written);
  const writtenDetails = objectOf(usage["output_tokens_details"]);
  const listed = countOf(writtenDetails?.["reasoning_tokens"]);
  const isFromTotal = endpoint.outputFromTotal && told.input !== undefined && told.output !== undefined;
  const output = told.output ?? listed;
  const all = isFromTotal ? Math.max(countOf(usage["total_tokens"]) - input, output) : output;
  const reasoning = Math.min(listed, all);
  const made = mediaOf(writtenDetails, all - reasoning);
  const reportedCost = endpoint.reportedCost(usage);
  const response = objectOf(answer["response"]) ?? answer;
  const { usage: ofTools, ...more } = endpoint.readTools(response);
  // As in `readChatUsage`. Runs of tools are billed all the same.
  const isEmpty = input + all === 0 && reportedCost === undefined && Object.keys(ofTools).length === 0;
  if (isEmpty) return undefined;
  const own: Usage = {
    input: uncached - written - read.images - read.audio,
    cacheRead,
    cacheWrite5m: written - cacheWrite1h,
    ...(cacheWrite1h === 0 ? {} : { cacheWrite1h }),
    output: all - reasoning - made.images - made.audio,
    reasoning,
    requests: 1,
  };
  addMedia(own, read, "inputImage", "inputAudio");
  addMedia(own, made, "outputImage", "outputAudio");
  const observed: ObservedUsage = {
    usage: addUsage(own, ofTools),
    ...more,
    ...uncountedOf(told.input, told.output),
    ...(reportedCost === undefined ? {} : { reportedCost }),
    ...(written > 0 && lifetimes === undefined ? { hasUnsplitWrites: true } : {}),
  };
  return withTier(observed, tierOf(answer), endpoint.tierNames);
}

interface MediaTokens {
  images: number;
  audio: number;
}

/** The tokens of images and sound among `tokens`, which OpenAI's schema does not have, but compatible upstreams and other gateways. */
function mediaOf(details: JsonObject | undefined, tokens: number): MediaTokens {
  const audio = Math.min(countOf(details?.["audio_tokens"]), tokens);
  return { audio, images: Math.min(countOf(details?.["image_tokens"]), tokens - audio) };
}

function addMedia(usage: Usage, { images, audio }: MediaTokens, ofImages: UsageBucket, ofAudio: UsageBucket): void {
  if (images > 0) usage[ofImages] = images;
  if (audio > 0) usage[ofAudio] = audio;
}

/**
 * Whether a body has something that the upstream lacks, and that the answer depends on: OpenAI's tools or compaction, or names of
 * tools that it refuses.
 */
function needsTranslation(
  { compacts, hasForeignTools, readTool }: ResponsesEndpoint,
  facts: ModelFacts,
  body: JsonObject,
  model: string,
): boolean {
  if (compacts !== true && asksForCompaction(body)) return true;
  const takesText = hasForeignTools !== true || facts.clientTools?.includes("custom") === true;
  const isForeign = (tool: JsonObject): boolean =>
    !fitsName(tool, facts) ||
    (hasForeignTools === true && readTool(tool, body, model) === undefined) ||
    (tool["type"] === "custom" && !takesText);
  return (
    toolsOf(body).some(isForeign) || listOf(body["input"]).some((item) => isForeignItem(objectOf(item) ?? {}, facts))
  );
}

/** An item of a tool that the upstream does not have, a call whose name it refuses, or a result that is a list. */
function isForeignItem(item: JsonObject, facts: ModelFacts): boolean {
  const type = typeOf(item);
  if (type === "function_call" || type === "custom_tool_call") return !fitsName(item, facts);
  if (facts.textResults === true && /^(?:function|custom_tool)_call_output$/.test(type))
    return Array.isArray(item["output"]);
  return facts.foreignItems?.includes(type) === true;
}

/** The Responses operation of an upstream that uses this dialect. */
export function responsesOperation(endpoint: ResponsesEndpoint): UpstreamOperation {
  const { facts } = endpoint;
  return {
    dialect: "responses",
    ...(facts === undefined ? {} : { facts }),
    path: endpoint.path,
    hasSocket: endpoint.hasSocket,
    ...(endpoint.isStateless !== true && { storesAnswers: true }),
    ...(endpoint.runsInBackground === true && { runsInBackground: true }),
    outputLimit: {
      field: "max_output_tokens",
      replaces: [],
      min: OUTPUT_TOKENS_MIN,
      hidesThought: endpoint.hidesThought,
    },
    extras: (body) => tierExtras(body, endpoint.tierNames),
    readTool: endpoint.readTool,
    edits: (body, model) => fitBody(body, facts?.(model) ?? {}),
    needsTranslation: (body, model) => needsTranslation(endpoint, facts?.(model) ?? {}, body, model),
    readUsage: (answer) => readResponsesUsage(answer, endpoint),
    // xAI's error is a string, other upstreams' errors are objects.
    isFailure: ({ status, error, output }) =>
      status === "failed" || (error !== undefined && error !== null && output === undefined),
  };
}
