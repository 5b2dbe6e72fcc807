import type { JsonObject } from "../../src/core/index.ts";
import {
  addText,
  type Cited,
  count,
  type Counts,
  dataOf,
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

/** Reads a whole answer. */
export function saidInGemini(answer: JsonObject): Said {
  return saidIn([answer]);
}

/** Reads a stream of chunks, which are nothing but lines of data. */
export function saidInGeminiStream(stream: string): Said {
  return saidIn(dataOf(stream).map(parse));
}

function saidIn(chunks: readonly JsonObject[]): Said {
  const candidates: Candidate[] = [];
  let model: string | undefined;
  let usage: Counts | undefined;
  let failure: string | undefined = "";
  for (const chunk of chunks) {
    if (chunk["error"] !== undefined) failure = text(object(chunk["error"])["message"]);
    model = text(chunk["modelVersion"]) || model;
    if (chunk["usageMetadata"] !== undefined) usage = countsOf(object(chunk["usageMetadata"]));
    for (const told of list(chunk["candidates"])) (candidates[count(told["index"])] ??= new Candidate()).read(told);
    if (object(chunk["promptFeedback"])["blockReason"] !== undefined) candidates[0] ??= new Candidate("SAFETY");
  }
  if (failure === "" && candidates.length > 0 && candidates.every(({ reason }) => reason !== "")) failure = undefined;
  return { model, choices: candidates.map((candidate) => candidate.said), usage, failure };
}

class Candidate {
  reason: string;
  readonly #pieces: Piece[] = [];
  readonly #cited = new Map<string, Cited>();

  constructor(reason = "") {
    this.reason = reason;
  }

  read(told: JsonObject): void {
    for (const part of list(object(told["content"])["parts"])) this.#readPart(part);
    this.reason = text(told["finishReason"]) || this.reason;
    for (const { web } of list(object(told["groundingMetadata"])["groundingChunks"])) {
      // Files that it has searched are no pages.
      if (web === undefined) continue;
      const { uri, title } = object(web);
      const nothing = { quoted: undefined, start: undefined, end: undefined, secret: undefined };
      this.#cited.set(text(uri), { url: text(uri), title: text(title), ...nothing });
    }
  }

  get said(): SaidChoice {
    const first = this.#pieces.find((piece) => piece.is === "text");
    if (first !== undefined) first.cited = [...this.#cited.values()];
    const calls = this.#pieces.some(({ is }) => is === "call");
    return { pieces: this.#pieces, stop: { reason: reasonOf(this.reason, calls) }, secrets: [] };
  }

  #readPart(part: JsonObject): void {
    const secret = secretOf(text(part["thoughtSignature"]));
    const { functionCall, inlineData, fileData } = part;
    if (functionCall !== undefined) {
      onlyKnows(part, "a call", ["functionCall", "thoughtSignature"]);
      const { id, name, args } = object(functionCall);
      this.#pieces.push({
        is: "call",
        id: text(id),
        name: text(name),
        arguments: JSON.stringify(args),
        custom: false,
        secret,
      });
      return;
    }
    if (inlineData !== undefined || fileData !== undefined) {
      const { mimeType, data } = object(inlineData);
      const url =
        fileData === undefined ? `data:${text(mimeType)};base64,${text(data)}` : text(object(fileData)["fileUri"]);
      this.#pieces.push({ is: "media", value: { url } });
      return;
    }
    if (part["text"] === undefined) {
      this.#pieces.push({ is: "hosted", value: part });
      return;
    }
    onlyKnows(part, "a text", ["text", "thought", "thoughtSignature"]);
    const isThought = part["thought"] === true;
    const last = this.#pieces.at(-1);
    // A signature ends a thought.
    const isNext = isThought && last?.is === "thought" && last.secret !== undefined;
    if (isNext) this.#pieces.push({ is: "thought", text: text(part["text"]), summaries: [] });
    else addText(this.#pieces, isThought ? "thought" : "text", text(part["text"]));
    if (secret === undefined) return;
    const signed = this.#pieces.at(-1);
    if (isThought && signed?.is === "thought") signed.secret = secret;
    else this.#pieces.push({ is: "thought", text: "", summaries: [], secret });
  }
}

/** Bytes in base64; those of another upstream are a tagged text. */
function secretOf(sealed: string): string | undefined {
  if (sealed === "") return undefined;
  const plain = Buffer.from(sealed, "base64").toString("utf8");
  return plain.startsWith("tollgate.") ? plain : sealed;
}

const reasons: Readonly<Record<string, Stop["reason"]>> = {
  "": "end",
  STOP: "end",
  MAX_TOKENS: "length",
  SAFETY: "filter",
  MODEL_ARMOR: "filter",
  // With content before it, the answer has ended.
  UNEXPECTED_TOOL_CALL: "end",
};

function reasonOf(word: string, calls: boolean): Stop["reason"] {
  const reason = reasons[word];
  if (reason === undefined) throw new Error(`no such finishReason: ${word}`);
  return reason === "end" && calls ? "calls" : reason;
}

function countsOf(usage: JsonObject): Counts {
  const prompt = count(usage["promptTokenCount"]) + count(usage["toolUsePromptTokenCount"]);
  const cacheRead = count(usage["cachedContentTokenCount"]);
  const of = (modality: string, ...details: string[]): number =>
    details
      .flatMap((name) => list(usage[name]))
      .filter((detail) => detail["modality"] === modality)
      .reduce((sum, { tokenCount }) => sum + count(tokenCount), 0);
  const outputImage = of("IMAGE", "candidatesTokensDetails");
  const [inputAudio, inputImage] = [
    of("AUDIO", "promptTokensDetails", "toolUsePromptTokensDetails"),
    of("IMAGE", "promptTokensDetails", "toolUsePromptTokensDetails"),
  ];
  const cacheAudioRead = of("AUDIO", "cacheTokensDetails");
  return {
    input: prompt - cacheRead - (inputAudio - cacheAudioRead) - inputImage,
    inputAudio: inputAudio - cacheAudioRead,
    inputImage,
    cacheRead: cacheRead - cacheAudioRead,
    cacheAudioRead,
    output: count(usage["candidatesTokenCount"]) - outputImage,
    outputImage,
    reasoning: count(usage["thoughtsTokenCount"]),
  };
}
