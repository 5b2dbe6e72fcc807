import { type JsonObject, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import type { RealtimeApi } from "../realtime-api.ts";
import { countOf, toldCount } from "./json.ts";
import { free, toolReader } from "./tools/hosted-tools.ts";

/** Tools that cost nothing besides their tokens. A search of the provider's own would be billed without being reported. */
const readTool = toolReader([[/^(?:function|mcp)?$/, free]]);

/** The realtime operation of an upstream whose events are OpenAI's. */
export function realtimeOperation(realtime: RealtimeApi): UpstreamOperation {
  return { path: "/realtime", edits: () => [], readTool, readUsage: () => undefined, isFailure: () => false, realtime };
}

/**
 * Reads the usage of a response into disjoint buckets. Cached tokens are part of each kind's count. Tokens that the
 * details do not name count as audio, which is the most expensive kind.
 */
export function readRealtimeUsage(value: unknown): ObservedUsage | undefined {
  const usage = objectOf(value) ?? {};
  const given = objectOf(usage["input_token_details"]);
  const written = objectOf(usage["output_token_details"]);
  const [tokensIn, tokensOut] = [usage["input_tokens"], usage["output_tokens"]];
  const counts = countsOf(isCount(tokensIn) ? given : undefined);
  const cached = cachedOf(given, counts);
  const listed = counts.text + counts.audio + counts.image;
  const inputAudio = counts.audio + Math.max((toldCount(tokensIn) ?? 0) - listed, 0);
  const { text: output, audio } = countsOf(isCount(tokensOut) ? written : undefined);
  const outputAudio = Math.max(audio, (toldCount(tokensOut) ?? 0) - output);
  if (counts.text + inputAudio + counts.image + output + outputAudio === 0) return undefined;
  return {
    usage: {
      input: counts.text - cached.text,
      cacheRead: cached.text,
      inputAudio: inputAudio - cached.audio,
      cacheAudioRead: cached.audio,
      ...(counts.image === 0 ? {} : { inputImage: counts.image - cached.image, cacheImageRead: cached.image }),
      output,
      outputAudio,
      requests: 1,
    },
  };
}

/** The details of a sum that is no count are none either. */
function isCount(sum: unknown): boolean {
  return sum === undefined || toldCount(sum) !== undefined;
}

interface Counts {
  text: number;
  audio: number;
  image: number;
}

function countsOf(details: JsonObject | undefined): Counts {
  return {
    text: countOf(details?.["text_tokens"]),
    audio: countOf(details?.["audio_tokens"]),
    image: countOf(details?.["image_tokens"]),
  };
}

/** The cached tokens of each kind. Without details of their own they are text first, which is the cheapest to cache. */
function cachedOf(details: JsonObject | undefined, { text, audio, image }: Counts): Counts {
  const own = objectOf(details?.["cached_tokens_details"]);
  if (own !== undefined) {
    const cached = countsOf(own);
    return {
      text: Math.min(cached.text, text),
      audio: Math.min(cached.audio, audio),
      image: Math.min(cached.image, image),
    };
  }
  const all = countOf(details?.["cached_tokens"]);
  const ofText = Math.min(all, text);
  const ofAudio = Math.min(all - ofText, audio);
  return { text: ofText, audio: ofAudio, image: Math.min(all - ofText - ofAudio, image) };
}
