import type { JsonObject, Nano } from "../../core/index.ts";
import type { CodeOutput, DrawnImage, FoundPassage } from "./tool-output.ts";
import type { DeferredTool } from "../requests/deferred-tools.ts";

/** A page that a tool has found. */
export interface FoundPage {
  url: string;
  title: string;
  text: string;
}

/** The errors of tools by their names in Messages. */
export type ToolErrorCode =
  | "invalid_input"
  | "execution_time_exceeded"
  | "max_uses_exceeded"
  | "query_too_long"
  | "unavailable"
  | "too_many_requests"
  | "url_not_allowed"
  | "url_not_accessible"
  | "url_too_long"
  | "invalid_tool_input";

/** The result of one use of a hosted tool. */
export interface ToolOutcome {
  /** The input as the tool has read it. */
  input: JsonObject;
  /** For the model. */
  text: string;
  /** The result of a server's tool for the client, or the reason of an error. */
  served?: string;
  /** Of code that was run. */
  outputs?: readonly CodeOutput[];
  /** An image that was made. */
  image?: DrawnImage;
  /** Of a search in files. */
  passages?: readonly FoundPassage[];
  /** The characters that the answer keeps of it, beside the text. */
  keptCharacters?: number;
  /** The tools that a search has found. */
  found?: readonly DeferredTool[];
  error: ToolErrorCode | undefined;
  pages: readonly FoundPage[];
  /** Its cost. */
  cost: Nano;
  /** Whether it was performed, and counts in the usage. */
  counts: boolean;
}

const messages: Readonly<Record<ToolErrorCode, string>> = {
  invalid_input: "The arguments are not valid.",
  execution_time_exceeded: "The tool has taken too long.",
  max_uses_exceeded: "The limit of uses of this tool is reached. Answer with what you have.",
  query_too_long: "The query is longer than 400 characters.",
  unavailable: "The tool is unavailable now.",
  too_many_requests: "There are too many requests now.",
  url_not_allowed:
    "This address may not be opened: it must stand, whole, in a message of the user or in an earlier result, and be of a permitted domain.",
  url_not_accessible: "The page could not be read.",
  url_too_long: "The address is too long.",
  invalid_tool_input: "The arguments are not valid.",
};

/** The error for the model. */
export function errorText(code: string): string {
  const known: Readonly<Record<string, string>> = messages;
  return `Error: ${known[code] ?? code}`;
}

/** `message`: why, if the code does not say it. */
export function failedOutcome(
  error: ToolErrorCode,
  input: JsonObject,
  { message, counts = false }: { message?: string | undefined; counts?: boolean } = {},
): ToolOutcome {
  const text = message === undefined ? errorText(error) : `Error: ${message}`;
  return { input, text, error, pages: [], cost: 0n, counts };
}
