import type { JsonObject } from "../../core/index.ts";
import type { Conversation, OutputFormat, Turn } from "./conversation.ts";

/**
 * Asks for the answer's format in the system prompt, for an upstream that has no option for it. The answer is not
 * guaranteed to fit, but it is asked to; an option that the upstream ignores or refuses would be worse.
 */
export function promptForFormat(
  conversation: Conversation,
  format: Exclude<OutputFormat, { kind: "text" }>,
): Conversation {
  const { turns } = conversation;
  const first = turns.findIndex(({ role }) => role !== "system" && role !== "developer");
  const place = first === -1 ? turns.length : first;
  const { at } = format;
  const turn: Turn = { role: "system", at, parts: [{ kind: "text", at, text: textOf(format) }] };
  return { ...conversation, format: undefined, turns: [...turns.slice(0, place), turn, ...turns.slice(place)] };
}

/** Whether every answer is an object: the only kind that upstreams other than Google can be held to. */
export function describesObject({ schema }: { schema: JsonObject }): boolean {
  const { type } = schema;
  return type === undefined || type === "object";
}

function textOf(format: Exclude<OutputFormat, { kind: "text" }>): string {
  const kind = format.kind === "schema" && !describesObject(format) ? "value" : "object";
  const alone = `Answer with one JSON ${kind} and nothing else: no code fence, no words before or after it.`;
  if (format.kind === "json") return alone;
  const what = format.description === undefined ? "" : ` It is: ${format.description}`;
  return `${alone}${what} It must fit this JSON Schema:\n${JSON.stringify(format.schema)}`;
}
