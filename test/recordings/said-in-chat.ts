import type { JsonObject } from "../../src/core/index.ts";
import {
  addText,
  type Cited,
  count,
  type Counts,
  dataOf,
  isEmpty,
  list,
  object,
  onlyKnows,
  parse,
  type Piece,
  type Said,
  type SaidChoice,
  type Stop,
  text,
} from "./said.ts";

type Call = Extract<Piece, { is: "call" }>;

/** One choice while its deltas are read; a whole message is read as the only delta. */
interface ChoiceOnTheWay {
  pieces: Piece[];
  calls: Map<unknown, Call>;
  annotations: JsonObject[];
  secrets: string[];
  reason: string | undefined;
}

/** Reads a whole chat completion. */
export function saidInChat(answer: JsonObject): Said {
  return read([answer], "message");
}

/** Reads a stream of chat completion chunks. */
export function saidInChatStream(stream: string): Said {
  const data = dataOf(stream);
  const chunks = data.filter((one) => one !== "[DONE]").map(parse);
  const said = read(chunks, "delta");
  const error = chunks.map((chunk) => chunk["error"]).find((one) => !isEmpty(one));
  if (error !== undefined) return { ...said, failure: text(object(error)["message"]) };
  const ended = data.includes("[DONE]") || chunks.some(hasReason);
  return { ...said, failure: ended ? undefined : "" };
}

const hasReason = (chunk: JsonObject): boolean =>
  list(chunk["choices"]).some((one) => text(one["finish_reason"]) !== "");

function read(chunks: readonly JsonObject[], member: "message" | "delta"): Said {
  const choices: ChoiceOnTheWay[] = [];
  const all = chunks.flatMap((chunk) => list(chunk["choices"]));
  const detailsTell = all.every((choice) => thoughtIn(object(choice[member])) === "");
  let usage: Counts | undefined;
  let sources: Cited[] = [];
  for (const chunk of chunks) {
    for (const choice of list(chunk["choices"])) {
      const index = count(choice["index"]);
      const onTheWay = (choices[index] ??= {
        pieces: [],
        calls: new Map(),
        annotations: [],
        secrets: [],
        reason: undefined,
      });
      readDelta(object(choice[member]), onTheWay, detailsTell);
      onTheWay.reason = text(choice["finish_reason"]) || onTheWay.reason;
    }
    const counted = [chunk["usage"], object(chunk["x_groq"])["usage"]].find((one) => !isEmpty(one));
    if (counted !== undefined) usage = countsOf(object(counted));
    sources = sourcesOf(chunk) ?? sources;
  }
  const model = chunks.map((chunk) => text(chunk["model"])).find((one) => one !== "");
  return { model, choices: choices.map((choice) => finish(choice, sources)), usage, failure: undefined };
}

/** `channel` and `token_id` describe how the text was generated. */
const messageMembers = [
  "role",
  "content",
  "refusal",
  "annotations",
  "tool_calls",
  "function_call",
  "audio",
  "images",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "encrypted_content",
  "extra_content",
  "thought_signature",
  "channel",
  "token_id",
];

const thoughtIn = (delta: JsonObject): string => text(delta["reasoning_content"]) || text(delta["reasoning"]);

/** `detailsTell`: the details of thoughts are the only ones to have their text, and do not repeat it. */
function readDelta(
  delta: JsonObject,
  { pieces, calls, annotations, secrets }: ChoiceOnTheWay,
  detailsTell: boolean,
): void {
  onlyKnows(delta, "a chat message", messageMembers);
  addText(pieces, "thought", thoughtIn(delta));
  for (const detail of list(delta["reasoning_details"])) {
    if (detailsTell) addText(pieces, "thought", text(detail["text"]) || text(detail["summary"]));
    onlyKnows(detail, "a detail of reasoning", [
      "type",
      "format",
      "id",
      "index",
      "text",
      "summary",
      "signature",
      "data",
    ]);
    secrets.push(text(detail["signature"]), text(detail["data"]));
  }
  const google = object(object(delta["extra_content"])["google"]);
  secrets.push(text(delta["encrypted_content"]), text(google["thought_signature"]) || text(delta["thought_signature"]));
  if (typeof delta["content"] === "string") addText(pieces, "text", delta["content"]);
  for (const chunk of list(delta["content"])) readChunk(chunk, pieces);
  addText(pieces, "refusal", text(delta["refusal"]));
  annotations.push(...list(delta["annotations"]));
  const former = isEmpty(delta["function_call"]) ? [] : [{ function: delta["function_call"] }];
  for (const call of [...list(delta["tool_calls"]), ...former]) readCall(call, pieces, calls);
  const images = list(delta["images"]).map((image) => object(image["image_url"]));
  for (const value of [object(delta["audio"]), ...images]) if (!isEmpty(value)) pieces.push({ is: "media", value });
}

/** Mistral's content in chunks. */
function readChunk(chunk: JsonObject, pieces: Piece[]): void {
  onlyKnows(chunk, "a chunk of content", ["type", "text", "thinking", "closed"]);
  addText(pieces, "text", text(chunk["text"]));
  for (const thought of list(chunk["thinking"])) addText(pieces, "thought", text(thought["text"]));
}

function readCall(fragment: JsonObject, pieces: Piece[], calls: Map<unknown, Call>): void {
  onlyKnows(fragment, "a tool call", ["index", "id", "type", "function", "custom", "extra_content"]);
  const custom = fragment["type"] === "custom" || isEmpty(fragment["function"]);
  const said = object(custom ? fragment["custom"] : fragment["function"]);
  const [id, name] = [text(fragment["id"]), text(said["name"])];
  const more = text(custom ? said["input"] : said["arguments"]);
  const key = fragment["index"] ?? id;
  const open = calls.get(key);
  if (open !== undefined && (name === "" || id === open.id)) {
    open.arguments += more;
    return;
  }
  const extra = fragment["extra_content"];
  const secret = isEmpty(extra) ? undefined : text(object(object(extra)["google"])["thought_signature"]);
  const call: Call = { is: "call", id, name, arguments: more, custom: fragment["type"] === "custom", secret };
  calls.set(key, call);
  pieces.push(call);
}

function finish({ pieces, annotations, secrets, reason }: ChoiceOnTheWay, sources: readonly Cited[]): SaidChoice {
  const parted = withoutTags(pieces);
  for (const annotation of annotations) placeAnnotation(annotation, parted);
  const last = parted.at(-1);
  if (last?.is === "text" && parted.every((piece) => piece.is !== "text" || piece.cited.length === 0)) {
    last.cited.push(...sources);
  }
  const hasCalls = parted.some(({ is }) => is === "call");
  return { pieces: parted, stop: stopOf(reason, hasCalls), secrets: secrets.filter((secret) => secret !== "") };
}

/** Thoughts between tags at the beginning of the content, as in several models and Google's layer. */
function withoutTags(pieces: readonly Piece[]): Piece[] {
  const index = pieces.findIndex(({ is }) => is === "text");
  const first = pieces[index];
  if (first?.is !== "text") return [...pieces];
  const [, , thought, rest] = /^\s*<(think|thought)>(.*?)<\/\1>(.*)$/s.exec(first.text) ?? [];
  if (thought === undefined || rest === undefined) return [...pieces];
  const parts: Piece[] = [];
  addText(parts, "thought", thought);
  addText(parts, "text", rest);
  return [...pieces.slice(0, index), ...parts, ...pieces.slice(index + 1)];
}

/** The indices of annotations count through the whole content. */
function placeAnnotation(annotation: JsonObject, pieces: readonly Piece[]): void {
  onlyKnows(annotation, "an annotation", ["type", "url_citation"]);
  const { url, title, start_index: start, end_index: end } = object(annotation["url_citation"]);
  let from = 0;
  for (const piece of pieces) {
    if (piece.is !== "text") continue;
    const isHere = count(start) < from + piece.text.length;
    if (isHere || piece === pieces.findLast(({ is }) => is === "text")) {
      const place = { start: count(start) - from, end: count(end) - from };
      piece.cited.push({ url: text(url), title: text(title), quoted: undefined, ...place, secret: undefined });
      return;
    }
    from += piece.text.length;
  }
}

/** Perplexity's sources beside the answer: pages with titles, or only their URLs. */
function sourcesOf({ search_results: results, citations }: JsonObject): Cited[] | undefined {
  const named: readonly unknown[] | undefined = Array.isArray(results)
    ? results
    : Array.isArray(citations)
      ? citations
      : undefined;
  return named?.map((one) => {
    const url = typeof one === "string" ? one : text(object(one)["url"]);
    const title = typeof one === "string" ? undefined : text(object(one)["title"]);
    return { url, title, quoted: undefined, start: undefined, end: undefined, secret: undefined };
  });
}

const reasons: Readonly<Record<string, Stop["reason"]>> = {
  stop: "end",
  length: "length",
  tool_calls: "calls",
  function_call: "calls",
  content_filter: "filter",
};

/** Several upstreams send `stop` after a call, or nothing. */
function stopOf(word: string | undefined, hasCalls: boolean): Stop {
  const reason = word === undefined ? "end" : reasons[word];
  if (reason === undefined) throw new Error(`no such finish_reason: ${word}`);
  return { reason: reason === "end" && hasCalls ? "calls" : reason };
}

/**
 * Thinking and audio are within `prompt_tokens` and `completion_tokens`, or beside them: the excess of `total_tokens`
 * over the two is beside them. Cached tokens beyond the prompt are beside it, too. Tokens that were written to the
 * cache and read from it in one call are counted, and charged, as both.
 */
function countsOf(usage: JsonObject): Counts {
  const [prompt, completion] = [count(usage["prompt_tokens"]), count(usage["completion_tokens"])];
  const rest = Math.max(count(usage["total_tokens"]) - prompt - completion, 0);
  const [ins, outs] = [object(usage["prompt_tokens_details"]), object(usage["completion_tokens_details"])];
  const cacheRead = count(
    ins["cached_tokens"],
    usage["prompt_cache_hit_tokens"],
    usage["num_cached_tokens"],
    usage["cached_tokens"],
  );
  const cacheWrite5m = count(ins["cache_write_tokens"]);
  const inputAudio = count(ins["audio_tokens"]);
  const audioBeside = rest > 0 && rest === inputAudio;
  const thoughtsBeside = rest > 0 && !audioBeside;
  const outputAudio = count(outs["audio_tokens"]);
  const outputImage = count(outs["image_tokens"]);
  const reasoning = thoughtsBeside ? rest : Math.min(count(outs["reasoning_tokens"]), completion);
  const fresh = prompt - (cacheRead > prompt ? 0 : cacheRead) - (audioBeside ? 0 : inputAudio);
  return {
    input: fresh - (cacheWrite5m > fresh ? 0 : cacheWrite5m),
    cacheRead,
    cacheWrite5m,
    inputAudio,
    output: completion - (thoughtsBeside ? 0 : reasoning) - outputAudio - outputImage,
    reasoning,
    outputAudio,
    outputImage,
  };
}
