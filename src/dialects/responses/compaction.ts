/**
 * Compaction for upstreams that have none: the same model writes a summary of the conversation, which becomes an item of type
 * `compaction`. Its `encrypted_content` is the summary itself, so that every node reads it without storage, and every provider
 * gets it back, as the user's words. It need not be sealed: the caller could as well write those words.
 */
import { type JsonObject, limits } from "../../core/index.ts";
import {
  type AnswerBlock,
  type AnswerEvent,
  type Conversation,
  invalid,
  type StreamWriter,
  type Turn,
} from "../conversation/index.ts";
import { itemId } from "./answers/output-items.ts";

/** Before the length of the text in bytes and the text in base64; a body with it does not pass through. */
const TAG = "tollgate.summary.compaction.";

/** An item of this dialect. */
type SummaryBlock = Extract<AnswerBlock, { kind: "native" }>;

const PROMPT = `Do not continue the conversation above. Write a summary with which another model can continue it without having read it:
what the user wants, in their own words where these matter; decisions, constraints and preferences; what has been done, with names of
files, commands, identifiers and results that are still needed; what is open, and the next step. Answer with the summary alone.`;

const INTRODUCTION = "Summary of the conversation so far:";

/** The conversation with the question for a summary as its last turn. Tools stay declared, since the history may contain calls. */
export function askForSummary(conversation: Conversation): Conversation {
  const at = "input";
  const tools = conversation.tools.filter(({ kind }) => kind !== "native");
  const turn: Turn = { role: "user", at, parts: [{ kind: "text", at, text: PROMPT }] };
  return {
    ...conversation,
    turns: [...conversation.turns, turn],
    tools,
    toolChoice: tools.length === 0 ? undefined : { mode: "none", at: "tool_choice" },
    parallelToolCalls: undefined,
    format: undefined,
    verbosity: undefined,
    logprobs: undefined,
  };
}

/** The text of an item's summary, as the user's words; undefined for an item that only its own maker can read. */
export function readSummary({ encrypted_content: content }: JsonObject, at: string): string | undefined {
  if (typeof content !== "string" || !content.startsWith(TAG)) return undefined;
  const [length = "", encoded = ""] = content.slice(TAG.length).split(".");
  if (Number(length) > limits.compactionBytesMax) {
    throw invalid(`${at}.encrypted_content`, `has a summary of more than ${limits.compactionBytesMax} bytes`);
  }
  const bytes = Buffer.from(encoded, "base64url");
  const text = bytes.toString();
  // One that was cut off, or edited so that it is no text any more.
  if (content !== contentOf(text) || text.trim() === "") throw invalid(`${at}.encrypted_content`, "is not whole");
  return `${INTRODUCTION}\n\n${text}`;
}

function contentOf(text: string): string {
  const bytes = Buffer.from(text);
  return `${TAG}${bytes.length}.${bytes.toString("base64url")}`;
}

function summaryBlock(text: string, callId: string): SummaryBlock | undefined {
  if (text.trim() === "") return undefined;
  const value = { id: itemId("cmp", callId, 0), type: "compaction", encrypted_content: contentOf(text.toWellFormed()) };
  return { kind: "native", at: "", dialect: "responses", value };
}

/** The message for an answer without any text. */
export const NO_SUMMARY = "The model gave no summary of the conversation.";

/** The item of an answer: its texts, without thoughts; undefined if there are none. */
export function summaryOf(blocks: readonly AnswerBlock[], callId: string): SummaryBlock | undefined {
  return summaryBlock(blocks.map((block) => (block.kind === "text" ? block.text : "")).join(""), callId);
}

/** Writes the item in place of a streamed answer, once that is whole. */
export class SummaryStreamWriter implements StreamWriter {
  readonly #writer: StreamWriter;
  readonly #callId: string;
  #text = "";
  #isText = false;
  #hasFailed = false;

  constructor(writer: StreamWriter, callId: string) {
    this.#writer = writer;
    this.#callId = callId;
  }

  write(event: AnswerEvent): string {
    if (this.#hasFailed || ("choice" in event && event.choice !== 0)) return "";
    switch (event.type) {
      case "block-start":
        this.#isText = event.block.kind === "text";
        return "";
      case "delta":
        if (this.#isText) this.#text += event.text;
        return "";
      case "citation":
      case "signature":
      case "block-end":
        return "";
      case "stop":
        return this.#summarize() + this.#writer.write(this.#hasFailed ? noSummary : event);
      default:
        return this.#writer.write(event);
    }
  }

  #summarize(): string {
    const block = summaryBlock(this.#text, this.#callId);
    this.#hasFailed = block === undefined;
    return block === undefined ? "" : this.#writer.write({ type: "block-start", choice: 0, index: 0, block });
  }
}

const noSummary: AnswerEvent = { type: "error", failure: { kind: "server", message: NO_SUMMARY } };
