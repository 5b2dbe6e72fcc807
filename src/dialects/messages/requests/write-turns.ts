import type { JsonObject } from "../../../core/index.ts";
import {
  type Conversation,
  expressNative,
  invalid,
  type Part,
  type TranslationTarget,
  type Turn,
  uniqueCallIds,
} from "../../conversation/index.ts";
import { writeContent } from "./write-blocks.ts";

/** The system prompt and the messages. */
export interface WrittenTurns {
  system: string | JsonObject[] | undefined;
  messages: JsonObject[];
}

/** A message under construction: its turns. */
interface PendingMessage {
  role: "user" | "assistant";
  at: string;
  parts: Part[];
  /** Whether it ends with results of tools; then the user's next content belongs to it. */
  results: boolean;
}

/** System prompts come first. */
export function writeTurns(conversation: Conversation, target: TranslationTarget): WrittenTurns {
  const { rest } = conversation;
  const turns =
    rest.dialect === "messages"
      ? conversation.turns
      : uniqueCallIds(expressNative(conversation.turns, "messages", target));
  const system: Part[] = [];
  const messages: PendingMessage[] = [];
  for (const turn of turns) {
    if (turn.role === "system" || turn.role === "developer") system.push(...turn.parts);
    else addTurn(messages, turn);
  }
  moveImages(messages);
  if (rest.dialect !== "messages") tidy(messages);
  const written = messages.map((message) => writeMessage(message, target)).filter((message) => message !== undefined);
  const [first] = written;
  if (first === undefined) throw invalid("messages", "must hold more than a system prompt");
  if (rest.dialect !== "messages" && first["role"] === "assistant") written.unshift(opening);
  const blocks = writeContent(system, target);
  return { system: blocks.length === 0 ? undefined : blocks, messages: written };
}

/** All results of one turn are in one message, before the user's content. */
function addTurn(messages: PendingMessage[], { role, parts, at }: Turn): void {
  const last = messages.at(-1);
  if (last?.results === true && (role === "tool" || role === "user")) {
    last.parts.push(...parts);
    last.results = role === "tool";
    return;
  }
  messages.push({ role: role === "assistant" ? role : "user", at, parts: [...parts], results: role === "tool" });
}

/** Images that a model has made, which its messages cannot contain here, follow in the user's next message. */
function moveImages(messages: PendingMessage[]): void {
  for (const [index, message] of [...messages.entries()].toReversed()) {
    const images = message.role === "assistant" ? message.parts.filter(({ kind }) => kind === "image") : [];
    if (images.length === 0) continue;
    message.parts = message.parts.filter(({ kind }) => kind !== "image");
    const moved: Part[] = [{ kind: "text", text: "Of the answer before:" }, ...images];
    const next = messages[index + 1];
    if (next?.role !== "user") {
      messages.splice(index + 1, 0, { role: "user", at: message.at, parts: moved, results: false });
      continue;
    }
    const results = next.parts.filter(({ kind }) => kind === "tool-result");
    next.parts = [...results, ...moved, ...next.parts.filter(({ kind }) => kind !== "tool-result")];
  }
}

function writeMessage({ role, at, parts }: PendingMessage, target: TranslationTarget): JsonObject | undefined {
  const content = writeContent(parts, target);
  if (content.length > 0) return { role, content };
  // An empty assistant turn is omitted; an empty user turn is refused by the upstream.
  if (role === "assistant") return undefined;
  throw invalid(`${at}.content`, "must not be empty for this model's provider");
}

/** Other dialects' conversations may begin with the assistant, those of this dialect must not. */
const opening: JsonObject = { role: "user", content: "(The assistant begins.)" };

/** Texts of only white space are refused, and so is an answer to continue that ends with it. */
function tidy(messages: readonly PendingMessage[]): void {
  const last = messages.at(-1);
  const end = last?.parts.at(-1);
  if (last?.role === "assistant" && end?.kind === "text")
    last.parts.splice(-1, 1, { ...end, text: end.text.trimEnd() });
  for (const message of messages) {
    message.parts = message.parts.filter((part) => part.kind !== "text" || part.text.trim() !== "");
  }
}
