import { type Dialect, parseObject } from "../../src/core/index.ts";
import type { Cited, Counts, Piece, Said, SaidChoice, Stop } from "./said.ts";

export type Aspect =
  | "model"
  | "text"
  | "thoughts"
  | "signatures"
  | "calls"
  | "order"
  | "refusals"
  | "citations"
  | "media"
  | "hosted"
  | "stop"
  | "usage"
  | "failure";

/** The content for a client of one dialect, as plain values, comparable with others. */
export type Shown = Readonly<Record<Aspect, unknown>>;

/** Which client an answer is for. */
interface Audience {
  dialect: Dialect;
  /** The answer is in that dialect itself: hosted tools, which no other can express, are visible. */
  own: boolean;
}

/**
 * The visible content of an answer for a client of this dialect: of the upstream's answer, which is expected, and of
 * the client's own, which is compared with it. Content without a place in a dialect is omitted (`docs/dialects.md`):
 * Messages and Responses have one choice, chat has no order of pieces.
 */
export function shownIn({ dialect, own }: Audience, said: Said): Shown {
  const choices = dialect === "chat" || dialect === "gemini" ? said.choices : said.choices.slice(0, 1);
  const pieces = choices.flatMap((choice) => choice.pieces);
  const isBroken = said.failure !== undefined;
  return {
    model: said.model,
    text: choices.map((choice) => textsIn(dialect, choice)),
    thoughts: choices.map((choice) => thoughtsIn(dialect, choice)),
    signatures: choices.flatMap((choice) => secretsIn(dialect, choice)),
    calls: isBroken ? [] : pieces.flatMap((piece) => (piece.is === "call" ? [callIn(dialect, piece)] : [])),
    order: dialect === "chat" || isBroken ? [] : orderOf(dialect, pieces, own),
    refusals:
      dialect === "messages" || dialect === "gemini"
        ? []
        : pieces.flatMap((piece) => (piece.is === "refusal" ? [piece.text] : [])),
    citations: choices.map((choice) => citationsIn(dialect, choice)),
    media: pieces.flatMap((piece) => (piece.is === "media" ? [piece.value] : [])),
    hosted: pieces.flatMap((piece) => (piece.is === "hosted" && own ? [piece.value] : [])),
    stop: isBroken ? [] : choices.map((choice) => stopIn(dialect, choice)),
    usage: said.usage === undefined ? undefined : usageIn(dialect, said.usage),
    failure: said.failure,
  };
}

/**
 * The differences between a client's answer and the upstream's. `expected` may leave open values that only the gateway
 * can know: the id of a call without one, the counts of an answer without usage, the message of a stream that just
 * stops.
 */
export function differencesOf(expected: Shown, actual: Shown, origin: string): Map<Aspect, Record<string, unknown>> {
  const signatures = signaturesFound(expected.signatures as string[], actual.signatures as string[], origin);
  const wanted: Shown = {
    ...expected,
    calls: withIds(expected.calls as ShownCall[], actual.calls as ShownCall[]),
    usage: withEstimates(expected, actual.usage),
    failure: expected.failure === "" && typeof actual.failure === "string" ? actual.failure : expected.failure,
  };
  const found: Shown = { ...actual, signatures };
  const names = (Object.keys(wanted) as Aspect[]).filter((name) => !Bun.deepEquals(wanted[name], found[name]));
  return new Map(names.map((name) => [name, { expected: wanted[name], actual: found[name] }]));
}

function textsIn(dialect: Dialect, { pieces }: SaidChoice): string[] {
  const isText = (piece: Piece) => piece.is === "text" || (piece.is === "refusal" && showsAsText(dialect));
  const texts = pieces.flatMap((piece) => (isText(piece) && "text" in piece && piece.text !== "" ? [piece.text] : []));
  return dialect === "chat" || dialect === "gemini" ? [texts.join("")] : texts;
}

/** Without a member of its own, a refusal is a text. */
const showsAsText = (dialect: Dialect): boolean => dialect === "messages" || dialect === "gemini";

/** A chat message has one text for all thoughts; the others have each by itself, in Responses with its summaries apart. */
function thoughtsIn(dialect: Dialect, { pieces }: SaidChoice): unknown {
  const thoughts = pieces.filter((piece) => piece.is === "thought");
  if (dialect === "chat") return thoughts.map(({ text, summaries }) => text || summaries.join("")).join("");
  const parts = thoughts.map(({ text, summaries }) => [...(text === "" ? [] : [text]), ...summaries]);
  const said = parts.filter((one) => one.length > 0);
  if (dialect === "gemini") return said.map((one) => one.join("\n\n")).join("");
  return dialect === "messages" ? said.map((one) => one.join("\n\n")) : said;
}

/** Only in Messages has a citation one. */
function secretsIn(dialect: Dialect, { pieces, secrets }: SaidChoice): string[] {
  const ofPieces = pieces.flatMap((piece) => {
    if (piece.is === "text" && dialect === "messages") return piece.cited.map(({ secret = "" }) => secret);
    return piece.is === "thought" || piece.is === "call" ? [piece.secret ?? ""] : [];
  });
  return [...ofPieces, ...secrets].filter((secret) => secret !== "");
}

interface ShownCall {
  id: string;
  name: string;
  arguments: unknown;
  custom: boolean;
}

/** Stands for an id that the gateway has to make. */
const MADE_HERE = "";

function callIn(dialect: Dialect, { id, name, arguments: said, custom }: Extract<Piece, { is: "call" }>): ShownCall {
  const fits = dialect !== "messages" || /^[\w-]+$/.test(id);
  const written = said.trim() === "" && !custom ? "{}" : said;
  return { id: fits ? id : MADE_HERE, name, arguments: custom ? said : (parseObject(written) ?? written), custom };
}

function withIds(expected: readonly ShownCall[], actual: readonly ShownCall[]): ShownCall[] {
  const taken = new Set(expected.map(({ id }) => id));
  return expected.map((call, index) => {
    const made = actual[index]?.id ?? "";
    if (call.id !== MADE_HERE || made === "" || taken.has(made)) return call;
    taken.add(made);
    return { ...call, id: made };
  });
}

/** The kinds of pieces in order. A thought without text is invisible. */
function orderOf(dialect: Dialect, pieces: readonly Piece[], own: boolean): string[] {
  const seen = pieces.filter((piece) => {
    if (piece.is === "media" || (piece.is === "hosted" && !own)) return false;
    if (piece.is === "thought") return piece.text !== "" || piece.summaries.length > 0;
    return piece.is === "call" || piece.is === "hosted" || piece.text !== "";
  });
  const kinds = seen.map(({ is }) => (is === "refusal" && showsAsText(dialect) ? "text" : is));
  return kinds.filter((kind, index) => kind !== kinds[index - 1]);
}

function citationsIn(dialect: Dialect, { pieces }: SaidChoice): unknown[] {
  if (dialect === "gemini") return pagesIn(pieces);
  let from = 0;
  return pieces.flatMap((piece) => {
    if (piece.is !== "text") return [];
    const offset = dialect === "chat" ? from : 0;
    from += piece.text.length;
    return piece.cited.map((cited) => citationIn(dialect, cited, { offset, length: piece.text.length }));
  });
}

/** The pages of a whole answer, each once, without their places in it. */
function pagesIn(pieces: readonly Piece[]): unknown[] {
  const cited = pieces.flatMap((piece) => (piece.is === "text" ? piece.cited : []));
  const pages = new Map<string, string>();
  for (const { url, title } of cited) if (!pages.has(url)) pages.set(url, title ?? "");
  return [...pages];
}

function citationIn(dialect: Dialect, cited: Cited, { offset, length }: { offset: number; length: number }): unknown {
  const { url, title, quoted, start = 0, end = length } = cited;
  if (dialect === "messages") return { url, title: title ?? url, quoted: quoted ?? "" };
  return { url, title: title ?? "", start: offset + start, end: offset + end };
}

const words: Readonly<Record<Dialect, Readonly<Record<Stop["reason"], string>>>> = {
  chat: {
    end: "stop",
    length: "length",
    context: "length",
    calls: "tool_calls",
    sequence: "stop",
    refusal: "content_filter",
    filter: "content_filter",
    pause: "length",
  },
  messages: {
    end: "end_turn",
    length: "max_tokens",
    context: "model_context_window_exceeded",
    calls: "tool_use",
    sequence: "stop_sequence",
    refusal: "refusal",
    filter: "refusal",
    pause: "pause_turn",
  },
  responses: {
    end: "completed",
    length: "max_output_tokens",
    context: "max_output_tokens",
    calls: "completed",
    sequence: "completed",
    refusal: "content_filter",
    filter: "content_filter",
    pause: "max_output_tokens",
  },
  gemini: {
    end: "STOP",
    length: "MAX_TOKENS",
    context: "MAX_TOKENS",
    calls: "STOP",
    sequence: "STOP",
    refusal: "SAFETY",
    filter: "SAFETY",
    pause: "STOP",
  },
};

function stopIn(dialect: Dialect, { stop: { reason, sequence }, pieces }: SaidChoice): unknown {
  const refuses = showsAsText(dialect) && reason === "end" && pieces.some(({ is }) => is === "refusal");
  const word = words[dialect][refuses ? "refusal" : reason];
  return dialect === "messages" ? { word, sequence } : word;
}

function usageIn(dialect: Dialect, counts: Counts): Record<string, number> {
  const { cacheWrite5m = 0, cacheWrite1h = 0, inputAudio = 0, inputImage = 0, cacheAudioRead = 0 } = counts;
  const input = (counts.input ?? 0) + inputImage;
  const cacheRead = (counts.cacheRead ?? 0) + cacheAudioRead;
  const { output = 0, reasoning = 0, outputAudio = 0, outputImage = 0 } = counts;
  const written = cacheWrite5m + cacheWrite1h;
  const all = output + reasoning + outputAudio + outputImage;
  if (dialect === "messages") {
    return { input: input + inputAudio, cacheRead, cacheWrite5m, cacheWrite1h, output: all, reasoning };
  }
  const total = { input: input + cacheRead + written + inputAudio, cacheRead, written, output: all, reasoning };
  // Nor does Google count what is written to a cache.
  if (dialect === "gemini") return { input: total.input, cacheRead, output: all, reasoning };
  return dialect === "chat" ? { ...total, inputAudio: inputAudio + cacheAudioRead, outputAudio } : total;
}

/** Messages and Responses require counts: without the upstream's, they are estimated, and above zero. */
function withEstimates({ usage, failure }: Shown, actual: unknown): unknown {
  const shown = actual as Record<string, number> | undefined;
  if (failure !== undefined) return shown;
  if (usage === undefined)
    return shown === undefined || ((shown["input"] ?? 0) > 0 && (shown["output"] ?? 0) > 0) ? shown : usage;
  const counted = usage as Record<string, number>;
  // Extractors do not see zeros in all dialects.
  if (shown === undefined && Object.values(counted).every((count) => count === 0)) return undefined;
  return counted["input"] === 0 && (shown?.["input"] ?? 0) > 0 ? { ...counted, input: shown?.["input"] } : counted;
}

/** The secrets that the client can return to their maker, within a tag that names the maker. */
function signaturesFound(expected: readonly string[], actual: readonly string[], origin: string): string[] {
  const seals = actual.filter((secret) => secret.startsWith(`tollgate.${origin}.`));
  return expected.filter((secret) => seals.some((seal) => seal.includes(secret)));
}
