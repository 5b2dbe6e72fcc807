/**
 * Uses of hosted tools in the messages of a request, as calls and results of the functions that stand for them now. Those of a
 * tool that has no function here become texts, unless the upstream takes those that it has made itself.
 */
import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import { ownResultStart, textOfHosted } from "../../dialects/index.ts";
import type { Sources } from "../citations/sources.ts";
import { fenced } from "../running/fence.ts";
import type { ResultSeal } from "../running/sealed-results.ts";
import { foundText } from "../running/search-tools.ts";
import { errorText } from "../running/tool-outcome.ts";
import { FILE_WRITTEN, textOfOutput } from "../running/tool-output.ts";
import { describeSource } from "../running/web-tools.ts";
import type { FunctionIndex, HostedFunction } from "./functions.ts";

/** A use whose result the next answer begins with. */
export interface PendingUse {
  /** The id of its block. */
  id: string;
  /** The name of its function. */
  name: string;
  /** JSON. */
  arguments: string;
  /** The id of the request that its client has approved. */
  approvalId?: string;
}

interface ReadHistory {
  messages: readonly JsonObject[];
  pending: readonly PendingUse[];
}

interface HistoryOptions {
  functions: FunctionIndex;
  sources: Sources;
  seal: ResultSeal;
  /** Whether the upstream takes blocks of its own tools. */
  keepsNative: boolean;
}

export function readHistory(messages: readonly JsonObject[], options: HistoryOptions): ReadHistory {
  const pending: PendingUse[] = [];
  const read = messages.flatMap((message, index) => {
    const blocks = objectsOf(message["content"]);
    if (message["role"] !== "assistant" || !blocks.some(({ type }) => isHosted(type))) return [message];
    const turn = new HostedTurn(blocks, options);
    if (index === messages.length - 1) pending.push(...turn.pending);
    return turn.messages;
  });
  return { messages: read, pending };
}

const hosted: ReadonlySet<unknown> = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "mcp_tool_use",
  "mcp_tool_result",
]);

const isHosted = (type: unknown): boolean => hosted.has(type);

/** One message of the assistant as several: after the results of tools it speaks again. */
class HostedTurn {
  readonly messages: JsonObject[] = [];
  /** The uses without a result. */
  readonly pending: PendingUse[] = [];
  readonly #options: HistoryOptions;
  readonly #results: ReadonlyMap<string, JsonObject>;
  /** Whether the upstream itself has made all of it. */
  readonly #isKept: boolean;
  /** Of the calls in the open part: those of one round stand side by side. */
  #round = "";
  #said: JsonObject[] = [];
  #told: JsonObject[] = [];

  constructor(blocks: readonly JsonObject[], options: HistoryOptions) {
    this.#options = options;
    const results = blocks.filter(({ type }) => stringOf(type).endsWith("_tool_result"));
    this.#isKept = options.keepsNative && !blocks.some((block) => this.#isOwn(block));
    this.#results = new Map(results.map((block) => [stringOf(block["tool_use_id"]), block]));
    for (const block of blocks) this.#add(block);
    this.#endPart();
  }

  #add(block: JsonObject): void {
    const { type, id } = block;
    if (!isHosted(type)) return this.#say(this.#isKept ? block : withoutCitations(block));
    if (type !== "server_tool_use" && type !== "mcp_tool_use") return this.#isKept ? this.#say(block) : undefined;
    const result = this.#results.get(stringOf(id));
    const own = this.#functionOf(block)?.name;
    if (own === undefined) return this.#isKept ? this.#say(block) : this.#sayResult(result);
    const input = objectOf(block["input"]) ?? {};
    const round = roundOf(stringOf(id));
    if (this.#told.length > 0 && round !== this.#round) this.#endPart();
    this.#round = round;
    this.#said.push({ type: "tool_use", id, name: own, input });
    if (result === undefined) this.pending.push({ id: stringOf(id), name: own, arguments: JSON.stringify(input) });
    else this.#told.push({ type: "tool_result", tool_use_id: id, content: this.#textOf(result) });
  }

  /** Whether the gateway has made a block, or would run its tool now. */
  #isOwn(block: JsonObject): boolean {
    if (!isHosted(block["type"])) return false;
    if (this.#functionOf(block) !== undefined || OWN_ID.test(stringOf(block["tool_use_id"] ?? block["id"])))
      return true;
    return objectsOf(block["content"]).some((page) => stringOf(page["encrypted_content"]).startsWith(ownResultStart));
  }

  #functionOf({ type, name, server_name: label }: JsonObject): HostedFunction | undefined {
    const { functions } = this.#options;
    if (type === "mcp_tool_use") return functions.ofServer(label, name);
    return type === "server_tool_use" ? functions.withAction(name) : undefined;
  }

  #say(block: JsonObject): void {
    // Blocks after results are another message; so are calls of the client's own functions.
    if (this.#told.length > 0) this.#endPart();
    this.#said.push(block);
  }

  #sayResult(result: JsonObject | undefined): void {
    const text = result === undefined ? "" : (textOfHosted(result, this.#options.seal.open) ?? "");
    if (text !== "") this.#say({ type: "text", text });
  }

  #endPart(): void {
    if (this.#said.length > 0) this.messages.push({ role: "assistant", content: this.#said });
    if (this.#told.length > 0) this.messages.push({ role: "user", content: this.#told });
    this.#said = [];
    this.#told = [];
  }

  /** As the model has got it then, if it was found here. */
  #textOf(result: JsonObject): string {
    const { type, content, tool_use_id: id } = result;
    if (type === "mcp_tool_result") {
      const text = objectsOf(content)
        .map((part) => stringOf(part["text"]))
        .join("\n");
      return result["is_error"] === true ? `Error: ${text}` : fenced(text, useIdOf(stringOf(id)));
    }
    if (stringOf(type).endsWith("code_execution_tool_result")) return codeResult(result);
    if (type === "tool_search_tool_result") return textOfSearch(objectOf(content) ?? {});
    const error = objectOf(content)?.["error_code"];
    if (typeof error === "string") return errorText(error);
    const pages =
      type === "web_search_tool_result"
        ? objectsOf(content).map((page) => this.#foundPage(page))
        : [fetchedPage(content)];
    const texts = pages.map((page) => describeSource({ ...this.#options.sources.add(page), text: page.text }));
    return fenced(texts.length === 0 ? "No pages were found." : texts.join("\n\n"), useIdOf(stringOf(id)));
  }

  #foundPage({ url, title, encrypted_content: content }: JsonObject) {
    return { url: stringOf(url), title: stringOf(title), text: this.#options.seal.open(content) ?? "" };
  }
}

/** The output of code as the model has got it then. */
function codeResult({ content, tool_use_id: id }: JsonObject): string {
  const { type, error_code: error, error_message: message, stdout, stderr, ...more } = objectOf(content) ?? {};
  const { return_code: code, content: view, lines } = more;
  if (typeof error === "string" && typeof message !== "string") return errorText(error);
  const created = type === "text_editor_code_execution_create_result" ? FILE_WRITTEN : "";
  const output = {
    stdout: stringOf(stdout) || stringOf(view) || listOf(lines).map(stringOf).join("\n") || created,
    stderr: stringOf(stderr) || stringOf(message),
    exitCode: typeof code === "number" ? code : typeof error === "string" ? 1 : 0,
  };
  return fenced(textOfOutput(output), useIdOf(stringOf(id)));
}

/** The result of a search among tools. */
function textOfSearch({ error_code: code, error_message: message, tool_references: references }: JsonObject): string {
  if (typeof code === "string") return typeof message === "string" ? `Error: ${message}` : errorText(code);
  return foundText(
    objectsOf(references).map(({ tool_name: name }) => ({ name: stringOf(name), namespace: undefined })),
  );
}

/** Of a block of the gateway's own. */
const OWN_ID = /^(?:srvtoolu|mcptoolu)_([a-z\d]+_\d+)_\d+$/;

/** The id of a use by that of its block. It marks the result too: nobody could know it before. */
export function useIdOf(blockId: string): string {
  return blockId.replace(/^(?:srvtoolu|mcptoolu|mcp|mcpr|ws|ci|fs|call|tsc)_/, "").replaceAll(/[^\w-]/g, "");
}

/** Different for the uses of other makers. */
function roundOf(blockId: string): string {
  return OWN_ID.exec(blockId)?.[1] ?? blockId;
}

function fetchedPage(content: unknown) {
  const { url, content: document } = objectOf(content) ?? {};
  const { title, source } = objectOf(document) ?? {};
  return { url: stringOf(url), title: stringOf(title), text: stringOf(objectOf(source)?.["data"]) };
}

function withoutCitations(block: JsonObject): JsonObject {
  const { citations: _, ...rest } = block;
  return rest;
}
