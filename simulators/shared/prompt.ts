import type { Attachment } from "./attachments.ts";
import { asArray } from "./json.ts";

/** One message of a conversation; the role is `tool` for the result of a call, whatever the dialect calls it. */
export interface PromptMessage {
  readonly role: string;
  /** The text of the message, content parts joined. */
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** True for an assistant's message that called tools. */
  readonly calledTools: boolean;
  /** True for a tool's result that is marked as an error. */
  readonly failed: boolean;
}

export interface PromptTool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters: unknown;
  /** It takes free text instead of arguments. */
  readonly custom?: boolean;
  /** The namespace that it is in, at a provider that has them. */
  readonly namespace?: string;
}

/** Which tool is to be called: none, as the model likes, any, or the named one. */
export type ToolChoice =
  | { readonly mode: "none" | "auto" | "required" }
  | { readonly mode: "named"; readonly name: string };

export type AnswerFormat = { readonly kind: "text" } | { readonly kind: "json"; readonly schema: unknown };

/** The content of a request, in any dialect. */
export interface Prompt {
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelTools: boolean;
  readonly format: AnswerFormat;
  /** Most output tokens of one choice, reasoning included; Infinity without a limit. */
  readonly tokensMax: number;
  readonly stop: readonly string[];
  readonly choices: number;
  readonly reasoning: boolean;
}

/** The contribution of one content part to the prompt: text, an attachment, or nothing. */
export interface PartContent {
  readonly text?: string;
  readonly attachment?: Attachment;
}

/** A message whose content is text or a list of parts. */
export function readContent(
  role: string,
  content: unknown,
  readPart: (part: unknown) => PartContent,
  more: Partial<PromptMessage> = {},
): PromptMessage {
  const plain = { role, attachments: [], calledTools: false, failed: false, ...more };
  if (typeof content === "string") return { ...plain, text: content };
  const parts = asArray(content).map(readPart);
  const texts = parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const attachments = parts.flatMap(({ attachment }) => (attachment === undefined ? [] : [attachment]));
  return { ...plain, text: texts.join("\n"), attachments };
}

/** The text of the last message with a role; empty without one. */
export function lastText(messages: readonly PromptMessage[], role: string): string {
  return messages.findLast((message) => message.role === role)?.text ?? "";
}

/** A number, or a default if it is missing. */
export function numberOr(value: unknown, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}

/** Effort levels at which no thinking is done. */
export function isThinkingEffort(effort: unknown): boolean {
  return typeof effort === "string" && effort !== "none" && effort !== "minimal";
}
