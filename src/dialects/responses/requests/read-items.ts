import { type JsonObject, objectOf } from "../../../core/index.ts";
import {
  invalid,
  member,
  optional,
  type Part,
  readList,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningPart,
  type Signature,
  type ToolCallPart,
  type ToolResultPart,
  type Turn,
  untagSignature,
} from "../../conversation/index.ts";
import { searchItem } from "../client-search.ts";
import { isInContainer, isServerRun, substituteItem, textOfHosted } from "../client-tools.ts";
import { readSummary } from "../compaction.ts";
import { typeOf } from "../kept-items.ts";
import type { ToolNames } from "../tool-names.ts";
import { readContent } from "./read-parts.ts";

/** Items that only an upstream of this dialect creates and understands. */
const nativeItems: ReadonlySet<string> = new Set([
  "item_reference",
  "file_search_call",
  "web_search_call",
  "computer_call",
  "computer_call_output",
  "tool_search_call",
  "tool_search_output",
  "additional_tools",
  "compaction",
  "context_compaction",
  "code_interpreter_call",
  "local_shell_call",
  "local_shell_call_output",
  "shell_call",
  "shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_call",
  "x_search_call",
  "code_execution_call",
  "view_image_call",
  "view_x_video_call",
  "program",
  "program_output",
]);

/** A list of items as turns, one per item: writers join them as they need. */
export function readItems(items: readonly unknown[], at: string, names: ToolNames): Turn[] {
  const turns: Turn[] = [];
  let callSignature: Signature | undefined;
  const hosted = callsInContainers(items);
  for (const [index, value] of items.entries()) {
    const path = `${at}.${index}`;
    const item = readObject(value, path);
    const sealed = callSignatureOf(item);
    if (sealed !== undefined) {
      callSignature = sealed;
      continue;
    }
    // An item that has triggered a summary tells nothing itself; all before the summary is in it.
    if (item["type"] === "compaction_trigger") continue;
    const isHosted = isOfShell(item) && hosted.has(item["call_id"]);
    const read = isHosted ? hostedTurn(item, path) : readItem(item, path, names);
    const turn = withoutSealed(read, turns);
    if (item["type"] === "compaction" && turn.role === "user" && isTrigger(items[index - 1])) keepInstructions(turns);
    const [first] = turn.parts;
    if (first?.kind === "tool-call" && callSignature !== undefined) {
      turns.push({ ...turn, parts: [{ ...first, signature: callSignature }] });
      callSignature = undefined;
    } else {
      turns.push(turn);
    }
  }
  return turns;
}

/** The ids of calls of a shell in a container: their outputs do not name it. */
function callsInContainers(items: readonly unknown[]): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  for (const value of items) {
    const item = objectOf(value) ?? {};
    const { type, call_id: id } = item;
    if (type === "shell_call" && typeof id === "string" && isInContainer(item)) found.add(id);
  }
  return found;
}

function isOfShell({ type }: JsonObject): boolean {
  return type === "shell_call" || type === "shell_call_output";
}

function hostedTurn(item: JsonObject, at: string): Turn {
  const text = textOfHosted(item);
  return { role: "assistant", at, parts: [{ kind: "native", at, dialect: "responses", value: item, text }] };
}

/** Beside the answers that it sums up, a compaction is left out for upstreams that can't read it. */
function withoutSealed(turn: Turn, before: readonly Turn[]): Turn {
  const [part] = turn.parts;
  if (part?.kind !== "native" || !compactions.has(part.value["type"])) return turn;
  const isBeside = before.some(
    ({ role, parts }) => role === "assistant" && parts.some(({ kind }) => kind !== "native"),
  );
  return { ...turn, parts: [isBeside ? { ...part, text: "" } : { ...part, refusal: sealedCompaction }] };
}

const compactions: ReadonlySet<unknown> = new Set(["compaction", "context_compaction"]);

const sealedCompaction =
  "only its maker can read this compaction. Continue with a model of the provider that made it, or send the items that it stands for.";

/** A thought without text that carries the signature of the following call, for which calls have no member here. */
function callSignatureOf({ type, encrypted_content: sealed }: JsonObject): Signature | undefined {
  if (type !== "reasoning" || typeof sealed !== "string") return undefined;
  const read = untagSignature(sealed, "responses");
  return read.use === "call" ? read.signature : undefined;
}

function isTrigger(item: unknown): boolean {
  return objectOf(item)?.["type"] === "compaction_trigger";
}

function keepInstructions(turns: Turn[]): void {
  const kept = turns.filter(({ role }) => role === "system" || role === "developer");
  turns.splice(0, turns.length, ...kept);
}

function readItem(item: JsonObject, at: string, names: ToolNames): Turn {
  const type = typeOf(item, at);
  switch (type) {
    case "message":
      return readMessage(item, at);
    case "function_call":
    case "custom_tool_call":
      return {
        role: "assistant",
        at,
        parts: [isServerRun(item) ? readNative(item, at, names) : readCall(item, at, names)],
      };
    case "function_call_output":
    case "custom_tool_call_output":
      return { role: "tool", at, parts: [readResult(item, at, type === "custom_tool_call_output")] };
    case "reasoning":
      return { role: "assistant", at, parts: [readReasoning(item, at)] };
    case "image_generation_call":
      return { role: "assistant", at, parts: [readGeneratedImage(item, at, names)] };
    case "compaction": {
      const text = readSummary(item, at);
      if (text !== undefined) return { role: "user", at, parts: [{ kind: "text", at, text }] };
      return { role: "assistant", at, parts: [readNative(item, at, names)] };
    }
    default:
      if (!nativeItems.has(type)) {
        throw invalid(`${at}.type`, `${JSON.stringify(type.slice(0, 80))} is not a type of item`);
      }
      return { role: "assistant", at, parts: [readNative(item, at, names)] };
  }
}

/** An item of another tool: what it is for upstreams that don't know it. */
function readNative(item: JsonObject, at: string, names: ToolNames): Part {
  const substitute = searchItem(item, at, names) ?? substituteItem(item, at);
  const text = substitute === undefined ? textOfHosted(item) : undefined;
  return { kind: "native", at, dialect: "responses", value: item, text, substitute };
}

function readMessage(item: JsonObject, at: string): Turn {
  const role = readOneOf(item["role"], `${at}.role`, ["user", "assistant", "system", "developer"]);
  const parts = readContent(item["content"], `${at}.content`);
  if (parts.length === 0 && role !== "assistant") throw invalid(`${at}.content`, "must not be empty");
  for (const part of parts) checkPlace(part, role, at);
  return { role, at, id: member(item, "id", at, readText), parts };
}

function checkPlace({ kind, at }: Part, role: Turn["role"], message: string): void {
  const fits = role === "assistant" ? kind === "text" || kind === "refusal" : kind !== "refusal";
  const prompt = role === "system" || role === "developer";
  if (!fits || (prompt && kind !== "text")) throw invalid(at ?? message, `has no place in a message of the ${role}`);
}

function readCall(item: JsonObject, at: string, names: ToolNames): ToolCallPart {
  const custom = item["type"] === "custom_tool_call";
  const field = custom ? "input" : "arguments";
  return {
    kind: "tool-call",
    at,
    id: member(item, "id", at, readText),
    callId: readWord(item["call_id"], `${at}.call_id`),
    name: names.flatten(readWord(item["name"], `${at}.name`), item["namespace"]),
    arguments: readText(item[field], `${at}.${field}`),
    custom: custom ? true : undefined,
  };
}

function readResult(item: JsonObject, at: string, custom: boolean): ToolResultPart {
  const content = readContent(item["output"], `${at}.output`);
  for (const part of content) {
    if (part.kind !== "text" && part.kind !== "image" && part.kind !== "file") {
      throw invalid(part.at ?? at, "has no place in the output of a tool");
    }
  }
  return {
    kind: "tool-result",
    at: `${at}.call_id`,
    id: member(item, "id", at, readText),
    callId: readWord(item["call_id"], `${at}.call_id`),
    content,
    custom: custom ? true : undefined,
  };
}

/** A thought of another dialect's upstream is a summary here, because clients show and return summaries. */
function readReasoning(item: JsonObject, at: string): ReasoningPart {
  const id = member(item, "id", at, readText);
  const text = readTexts(item, "content", at).join("");
  const summary = readTexts(item, "summary", at);
  const sealed = optional(item["encrypted_content"], `${at}.encrypted_content`, readText);
  const { signature, use } = sealed === undefined ? {} : untagSignature(sealed, "responses");
  if (use === "cipher") return { kind: "reasoning", at, id, text: "", redacted: true, signature };
  if (use === "thought")
    return { kind: "reasoning", at, id, text: [text, ...summary].filter(Boolean).join("\n\n"), signature };
  return { kind: "reasoning", at, id, text, summary, signature };
}

/** Its item for an upstream of this dialect, its image for the others. */
function readGeneratedImage(item: JsonObject, at: string, names: ToolNames): Part {
  const native = { dialect: "responses", value: item } as const;
  const data = member(item, "result", at, readText) ?? "";
  if (data === "") return readNative(item, at, names);
  return { kind: "image", at, source: { kind: "base64", mediaType: imageTypeOf(data), data }, native };
}

/** By the first bytes, in base64: the item does not name it. */
export function imageTypeOf(data: string): string {
  const [, type = "png"] = imageStarts.find(([start]) => data.startsWith(start)) ?? [];
  return `image/${type}`;
}

const imageStarts = [
  ["/9j/", "jpeg"],
  ["R0lG", "gif"],
  ["UklGR", "webp"],
] as const;

function readTexts(item: JsonObject, name: string, at: string): string[] {
  const list = member(item, name, at, readList) ?? [];
  return list.map((value, index) => {
    const path = `${at}.${name}.${index}`;
    return readText(readObject(value, path)["text"], `${path}.text`);
  });
}
