/**
 * The encrypted thoughts of a conversation, and the signatures of its thoughts: providers read them with the key of the account
 * alone that made them, and drop or refuse them otherwise.
 */
import { createHash } from "node:crypto";
import { type CreatedObjects, type JsonObject, listOf, objectOf, type StoredObject } from "../core/index.ts";

/** An event without any of them has none. */
const WORDS = [
  "signature",
  "signature_delta",
  "thought_signature",
  "thoughtSignature",
  "encrypted_content",
  "redacted_thinking",
  "reasoning.encrypted",
].map((word) => Buffer.from(`"${word}"`));

/** Of a string's characters, so many are in a body whose long strings are cut. */
const BEGINNING = 60;

/** The newest ones of a history: one of them is enough. */
const READ_MAX = 8;

/** Members whose texts are such. */
const names: ReadonlySet<string> = new Set(["signature", "thought_signature", "thoughtSignature", "encrypted_content"]);

/** The types of objects whose `data` is one. */
const types: ReadonlySet<unknown> = new Set(["redacted_thinking", "reasoning.encrypted"]);

/** Those in an answer or an event of any dialect. */
export const createdThoughts: CreatedObjects = {
  words: WORDS,
  read: ({ choices, candidates, content, content_block: block, delta, item, output, response }) =>
    thoughtsIn([choices, candidates, content, block, delta, item, output, objectOf(response)?.["output"]]),
};

/** The newest ones of a body's history, the newest first. */
export function thoughtsOf({ messages, input, contents }: JsonObject): StoredObject[] {
  return thoughtsIn([messages, input, contents]);
}

function thoughtsIn(values: readonly unknown[]): StoredObject[] {
  const found: StoredObject[] = [];
  for (const value of values) collect(value, found);
  return found;
}

function collect(value: unknown, found: StoredObject[]): void {
  if (found.length >= READ_MAX || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const one of listOf(value).toReversed()) collect(one, found);
    return;
  }
  const object = objectOf(value) ?? {};
  for (const [name, member] of Object.entries(object)) {
    if (typeof member === "object") collect(member, found);
    else if (typeof member === "string" && (names.has(name) || (name === "data" && types.has(object["type"])))) {
      if (member !== "") found.push({ kind: "thought", id: idOf(member) });
    }
  }
}

function idOf(text: string): string {
  return createHash("sha256").update(text.slice(0, BEGINNING)).digest("base64url");
}
