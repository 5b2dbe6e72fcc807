import { type JsonObject, objectOf, parseObject, type UsageBucket } from "../../src/core/index.ts";

/**
 * The content of an answer, read from its bytes without the gateway's own readers: small extractors, one per dialect,
 * read the upstream's and the client's bytes. They refuse unknown members and blocks, so that no content of a recording
 * stays uncompared.
 */
export interface Said {
  model: string | undefined;
  choices: readonly SaidChoice[];
  /** Undefined if the answer contains no counts. */
  usage: Counts | undefined;
  /** Why a stream is incomplete: the message of its error, or "" if it just stops. */
  failure: string | undefined;
}

export interface SaidChoice {
  pieces: readonly Piece[];
  stop: Stop;
  /** Secrets that belong to no piece. */
  secrets: readonly string[];
}

/** Tokens in the gateway's buckets; a bucket that is not there counts none. */
export type Counts = Partial<Record<UsageBucket, number>>;

export interface Stop {
  reason: "end" | "length" | "context" | "calls" | "sequence" | "refusal" | "filter" | "pause";
  sequence?: string | undefined;
}

export type Piece =
  | { is: "text"; text: string; cited: Cited[] }
  /**
   * `secret` is opaque data that only the upstream can read and that must be returned: a signature, the encrypted
   * thought.
   */
  | { is: "thought"; text: string; summaries: string[]; secret?: string | undefined }
  | { is: "refusal"; text: string }
  | { is: "call"; id: string; name: string; arguments: string; custom: boolean; secret?: string | undefined }
  /** A picture or a sound in the answer. */
  | { is: "media"; value: JsonObject }
  /**
   * The call of a tool that the upstream runs itself, its result, and other content that only its own dialect can
   * express.
   */
  | { is: "hosted"; value: JsonObject };

export interface Cited {
  url: string;
  title: string | undefined;
  quoted: string | undefined;
  /** The range of the piece's text, if given. */
  start: number | undefined;
  end: number | undefined;
  secret: string | undefined;
}

/** The `data` of the server-sent events in a text; comments and events without data are left out. */
export function dataOf(stream: string): string[] {
  return stream
    .split(/\r?\n\r?\n/)
    .map((event) => event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"));
}

/** Throws if the object has further members: an extractor must support a member before it can be ignored. */
export function onlyKnows(value: JsonObject, what: string, members: readonly string[]): void {
  const unknown = Object.keys(value).filter((name) => !members.includes(name) && !isEmpty(value[name]));
  if (unknown.length > 0) throw new Error(`${what} has ${unknown.join(", ")}: ${JSON.stringify(value).slice(0, 300)}`);
}

/** Whether a value is empty, at any depth. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && Object.values(value).every(isEmpty);
}

/** Adds text to the last piece if it is of this kind, or begins one. */
export function addText(pieces: Piece[], is: "text" | "thought" | "refusal", text: string): void {
  if (text === "") return;
  const last = pieces.at(-1);
  if (last?.is === is) last.text += text;
  else if (is === "text") pieces.push({ is, text, cited: [] });
  else if (is === "thought") pieces.push({ is, text, summaries: [] });
  else pieces.push({ is, text });
}

/** The first of these that is a number, else 0. */
export function count(...values: readonly unknown[]): number {
  const found = values.find((value) => typeof value === "number");
  return typeof found === "number" ? found : 0;
}

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const object = (value: unknown): JsonObject => objectOf(value) ?? {};
export const list = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.map(object) : []);
export const parse = (json: string): JsonObject => {
  const value = parseObject(json);
  if (value === undefined) throw new Error(`no JSON object: ${json.slice(0, 100)}`);
  return value;
};
