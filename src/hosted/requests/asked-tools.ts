/** The hosted tools of a body that the gateway can run, in the terms of each dialect. */
import { GatewayError, type JsonObject, listOf, objectOf, stringOf } from "../../core/index.ts";
import { isInContainer } from "../../dialects/index.ts";
import type { ImageModel } from "./image-model.ts";
import type { ConfiguredAction, ConfiguredKind } from "./configured-tools.ts";
import { countOf, type WebOptions, webOptions } from "./web-options.ts";

/** The dialects whose clients know hosted tools. */
export type HostedDialect = "chat" | "messages" | "responses";

type WebKind = "web_search" | "web_fetch";

/** A tool as `tools.hosted` of the configuration names it, whatever its versions and dialects call it. */
export type HostedKind = WebKind | "tool_search" | ConfiguredKind | "image_generation";

interface AskedPart {
  kind: HostedKind;
  /** Its place in the list of tools; undefined for a member of the body. */
  index: number | undefined;
  /** As its client names it: a type, or the member of the body. */
  type: string;
  /** Its own limit of uses. */
  usesMax: number | undefined;
  /** As its client has written it. */
  value: JsonObject;
}

/** One for searches or pages of the web. */
export interface WebTool extends AskedPart, WebOptions {
  kind: WebKind;
}

/** A search among the tools that the request defers. */
export interface SearchTool extends AskedPart {
  kind: "tool_search";
}

/** One that tools of servers run. */
export interface ConfiguredTool extends AskedPart {
  kind: ConfiguredKind;
  /** The tools of servers that the configuration names for it and the caller may call, as `server__tool`. */
  configured: readonly { action: ConfiguredAction; name: string }[];
}

/** One for images. */
export interface ImageTool extends AskedPart {
  kind: "image_generation";
  /** The models that make the images; undefined if there are none, and before they are looked for. */
  models: ImageModel | undefined;
}

export type AskedTool = WebTool | SearchTool | ConfiguredTool | ImageTool;

const openai: readonly HostedDialect[] = ["chat", "responses"];

/** The types of each kind, and the dialects that have it; all by default. */
const kinds: readonly (readonly [kind: HostedKind, types: RegExp, dialects?: readonly HostedDialect[]])[] = [
  ["web_search", /^web_search(?:_preview)?(?:_\d{4}_\d\d_\d\d|_\d{8})?$/],
  ["web_fetch", /^web_fetch_\d{8}$/],
  ["tool_search", /^tool_search(?:_tool_(?:bm25|regex)(?:_\d{8})?)?$/],
  ["code_interpreter", /^code_interpreter$/, openai],
  ["code_execution", /^code_execution_\d{8}$/, ["messages"]],
  ["file_search", /^file_search$/, openai],
  ["shell", /^shell$/, openai],
  ["image_generation", /^image_generation$/, ["responses"]],
];

/** The member of a chat body that asks for searches. */
export const SEARCH_MEMBER = "web_search_options";

/** Whether a body may have such tools: a look at the types alone. */
export function mayHaveHosted(dialect: HostedDialect, body: JsonObject): boolean {
  const { tools } = body;
  if (dialect === "chat" && objectOf(body[SEARCH_MEMBER]) !== undefined) return true;
  return Array.isArray(tools) && tools.some((tool) => kindOf(tool, dialect) !== undefined);
}

/** Undefined for a tool that the gateway does not run. */
export function kindOf(value: unknown, dialect: HostedDialect): HostedKind | undefined {
  const tool = objectOf(value) ?? {};
  const { type, execution } = tool;
  if (typeof type !== "string" || type === "function" || type === "custom") return undefined;
  const [kind, , dialects] = kinds.find(([, types]) => types.test(type)) ?? [];
  // A client may search itself.
  if (kind === "tool_search" && execution === "client") return undefined;
  if (dialects?.includes(dialect) === false) return undefined;
  // Any other shell is the client's own.
  return kind === "shell" && !isInContainer(tool) ? undefined : kind;
}

/** The most hosted tools and servers of one body: each is looked at in several places. */
const HOSTED_MAX = 128;

/** Throws 422 for a body with more hosted tools and servers of tools than that. */
export function requireFewHosted(dialect: HostedDialect, { tools, mcp_servers: servers }: JsonObject): void {
  let count = listOf(servers).length;
  for (const tool of listOf(tools)) {
    if (objectOf(tool)?.["type"] === "mcp" || kindOf(tool, dialect) !== undefined) count += 1;
  }
  if (count <= HOSTED_MAX) return;
  const message = `tools: there are ${count} hosted tools and servers; ${HOSTED_MAX} are permitted.`;
  throw new GatewayError("validation_failed", message, { param: "tools" });
}

export function askedTools(dialect: HostedDialect, body: JsonObject): AskedTool[] {
  const listed = listOf(body["tools"]).flatMap((each, index) => {
    const tool = objectOf(each);
    const kind = kindOf(tool, dialect);
    return tool === undefined || kind === undefined ? [] : [readTool(tool, kind, index)];
  });
  const options = dialect === "chat" ? objectOf(body[SEARCH_MEMBER]) : undefined;
  if (options === undefined) return listed;
  return [...listed, { ...readTool(options, "web_search", undefined), type: SEARCH_MEMBER }];
}

function readTool(value: JsonObject, kind: HostedKind, index: number | undefined): AskedTool {
  const part = { index, type: stringOf(value["type"]), usesMax: countOf(value["max_uses"]), value };
  if (kind === "web_search" || kind === "web_fetch") return { ...part, kind, ...webOptions(value) };
  if (kind === "tool_search") return { ...part, kind };
  if (kind === "image_generation") return { ...part, kind, models: undefined };
  return { ...part, kind, configured: [] };
}

/** The body without these tools, and without a choice that names one of them. */
export function withoutTools(body: JsonObject, asked: readonly AskedTool[]): JsonObject {
  const places = new Set(asked.map(({ index }) => index));
  const { [SEARCH_MEMBER]: member, ...rest } = body;
  const kept = places.has(undefined) || member === undefined ? rest : { ...rest, [SEARCH_MEMBER]: member };
  if (body["tools"] === undefined) return kept;
  return { ...kept, tools: listOf(body["tools"]).filter((_tool, index) => !places.has(index)) };
}
