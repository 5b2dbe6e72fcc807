import { type JsonObject, objectOf, parseObject } from "../../core/index.ts";
import { defined } from "../conversation/index.ts";

/** The place that an upstream shows the text of a thought in: a member of the message, or between tags in its content. */
export type ThoughtPlace = "reasoning_content" | "reasoning" | "think";

/** What an upstream of this dialect sends with a thought and requires back with it, besides its text. */
export interface ThoughtData {
  /** Parts with a text, a signature or a cipher, in the order in which they came (OpenRouter, Snowflake). */
  details: readonly JsonObject[];
  /** The signature of the whole message (Google). */
  extra?: JsonObject | undefined;
  /** The encrypted thought (xAI). */
  cipher?: string | undefined;
  /** The place of the text, for an upstream that takes it back there. */
  place?: ThoughtPlace | undefined;
}

/** The members of a detail with text. */
const texts = ["text", "summary"] as const;

/**
 * The data as the value of a signature; empty if there is none. A detail whose text is the whole thought, which clients
 * return anyway, has null instead.
 */
export function writeThoughtData({ details, extra, cipher, place }: ThoughtData, text: string): string {
  if (cipher !== undefined) return cipher;
  const written = details.map((detail) => mapTexts(detail, (one) => (one === text ? null : one)));
  const data = defined({
    reasoning_details: written.length === 0 ? undefined : written,
    extra_content: extra,
    place,
  });
  return Object.keys(data).length === 0 ? "" : JSON.stringify(data);
}

/** Backwards; `text` is the thought that the client has returned. */
export function readThoughtData(value: string, text: string): ThoughtData {
  const data = parseObject(value);
  if (data === undefined) return { details: [], cipher: value === "" ? undefined : value };
  const { reasoning_details: details, extra_content: extra, place } = data;
  return {
    details: detailsIn(details).map((detail) => mapTexts(detail, (one) => (one === null && text !== "" ? text : one))),
    extra: objectOf(extra),
    place: place === "reasoning" || place === "reasoning_content" || place === "think" ? place : undefined,
  };
}

/** The details in a message's `reasoning_details`. */
export function detailsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map((one) => objectOf(one)).filter((one) => one !== undefined) : [];
}

/** The text in a detail. */
export function textOfDetail({ text, summary }: JsonObject): string {
  return typeof text === "string" ? text : typeof summary === "string" ? summary : "";
}

/** Adds a detail, or a piece of the last one: streams cut their texts and send the signature of a text after it. */
export function addDetail(details: JsonObject[], detail: JsonObject): void {
  const at = details.findLastIndex(({ type, index }) => type === detail["type"] && index === detail["index"]);
  const before = details[at];
  if (before === undefined || !continues(before, detail)) {
    details.push(detail);
    return;
  }
  const { text, summary, ...others } = detail;
  const more = defined({ text: joined(before["text"], text), summary: joined(before["summary"], summary) });
  details[at] = { ...before, ...withoutNull(others), ...more };
}

function continues(before: JsonObject, { type, id }: JsonObject): boolean {
  const isText = type === "reasoning.text" || type === "reasoning.summary";
  return isText && !before["signature"] && (!before["id"] || !id || before["id"] === id);
}

function joined(before: unknown, more: unknown): unknown {
  return typeof before === "string" && typeof more === "string" ? before + more : (more ?? before);
}

function withoutNull(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function mapTexts(detail: JsonObject, map: (text: unknown) => unknown): JsonObject {
  const mapped: Record<string, unknown> = { ...detail };
  for (const name of texts) if (name in mapped && mapped[name] !== "") mapped[name] = map(mapped[name]);
  return mapped;
}
