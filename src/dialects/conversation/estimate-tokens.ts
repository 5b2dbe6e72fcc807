import type { Conversation, Tool } from "./conversation.ts";
import type { Part } from "./parts.ts";

/**
 * The average bytes per token: in English and in code, and about the same in scripts with three bytes per character.
 */
const BYTES_A_TOKEN = 3.6;

/** Tokens of an image of common size. */
const IMAGE_TOKENS = 1_500;

/** Tokens of a page of a document, and the base64 characters per page. */
const PAGE_TOKENS = 2_000;
const PAGE_CHARACTERS = 80_000;

/** Tokens that a template adds around a turn. */
const TURN_TOKENS = 4;

/** An estimate of a conversation's tokens by its length, at least 1; displayed before the upstream has counted. */
export function estimateTokens(conversation: Pick<Conversation, "turns" | "tools">): number {
  let bytes = 0;
  let tokens = 0;
  const add = (part: Part): void => {
    if (part.kind === "image") tokens += IMAGE_TOKENS;
    else if (part.kind === "tool-result") part.content.forEach(add);
    else if (part.kind === "file" && part.source.kind === "parts") part.source.parts.forEach(add);
    else if (part.kind === "file" && part.source.kind !== "text") tokens += tokensOfFile(part.source);
    else bytes += bytesOf(part);
  };
  for (const turn of conversation.turns) {
    tokens += TURN_TOKENS;
    turn.parts.forEach(add);
  }
  for (const tool of conversation.tools) bytes += bytesOfTool(tool);
  return Math.max(1, tokens + Math.ceil(bytes / BYTES_A_TOKEN));
}

function tokensOfFile(source: { kind: string; data?: string }): number {
  return Math.ceil((source.data?.length ?? PAGE_CHARACTERS) / PAGE_CHARACTERS) * PAGE_TOKENS;
}

function bytesOf(part: Part): number {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "refusal":
      return Buffer.byteLength(part.text);
    case "tool-call":
      return Buffer.byteLength(part.name) + Buffer.byteLength(part.arguments);
    case "file":
      return part.source.kind === "text" ? Buffer.byteLength(part.source.text) : 0;
    case "audio":
      return part.data.length / 10;
    case "native":
      return JSON.stringify(part.value).length;
    default:
      return 0;
  }
}

function bytesOfTool(tool: Tool): number {
  if (tool.kind === "native") return JSON.stringify(tool.value).length;
  const schema = tool.kind === "function" ? tool.parameters : tool.format;
  const { name, description = "" } = tool;
  return name.length + description.length + (schema === undefined ? 0 : JSON.stringify(schema).length);
}
