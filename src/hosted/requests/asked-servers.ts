/** The servers of tools that a body names, of which some are this gateway's own. */
import { GatewayError, type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import type { HostedDialect } from "./asked-tools.ts";

/** A server of tools whose tools the gateway runs. */
export interface AskedServer {
  /** The name that the client gives it. */
  label: string;
  place: AskedPlace;
  /** Its place in the list of tools; undefined for a member of the body. */
  index: number | undefined;
  /** Whether the client permits a tool. */
  permits: (tool: ListedTool) => boolean;
  /** Whether the client wants to be asked before a call. */
  needsApproval: (tool: ListedTool) => boolean;
  /** Whether the model sees a tool only once a search has found it. */
  isDeferred: (tool: ListedTool) => boolean;
}

interface ListedTool {
  name: string;
  isReadOnly: boolean;
}

interface NamedServer {
  name: string;
  /** Its address in the request, which may name accounts. */
  address?: string | undefined;
}

/** A server or set of this gateway by its name, the last part of `/mcp/{name}`; or one at an address, with the headers of the request. */
export type AskedPlace = NamedServer | { url: string; headers: Readonly<Record<string, string>> };

/** The place of a server, given the address and the label in a request; undefined for one that is left to the provider. */
export type FindServer = (url: string | undefined, label: string) => NamedServer | { url: string } | undefined;

/** Whether a body may name some: a look at the types alone, since every call is asked. */
export function mayHaveServers(dialect: HostedDialect, { tools, mcp_servers: servers }: JsonObject): boolean {
  if (dialect === "messages") return Array.isArray(servers) && servers.length > 0;
  return Array.isArray(tools) && tools.some((tool) => objectOf(tool)?.["type"] === "mcp");
}

export function askedServers(dialect: HostedDialect, body: JsonObject, find: FindServer): AskedServer[] {
  if (!mayHaveServers(dialect, body)) return [];
  return dialect === "messages" ? inMessages(body, find) : inTools(body, find);
}

function inTools(body: JsonObject, find: FindServer): AskedServer[] {
  return listOf(body["tools"]).flatMap((each, index) => {
    const tool = objectOf(each);
    if (tool?.["type"] !== "mcp" || tool["connector_id"] != null) return [];
    const label = stringOf(tool["server_label"]);
    const found = find(wordOf(tool["server_url"]), label);
    if (found === undefined) return [];
    const place = placeOf(found, label, { ...objectOf(tool["headers"]), ...bearer(tool["authorization"]) });
    const permits = permittedBy(tool["allowed_tools"]);
    const isDeferred = (): boolean => tool["defer_loading"] === true;
    return [{ label, place, index, permits, needsApproval: approvalOf(tool), isDeferred }];
  });
}

function inMessages(body: JsonObject, find: FindServer): AskedServer[] {
  const toolsets = new Map<unknown, JsonObject>();
  for (const tool of objectsOf(body["tools"])) {
    const { type, mcp_server_name: name } = tool;
    if (type === "mcp_toolset" && !toolsets.has(name)) toolsets.set(name, tool);
  }
  return objectsOf(body["mcp_servers"]).flatMap((server) => {
    const label = stringOf(server["name"]);
    const found = find(wordOf(server["url"]), label);
    if (found === undefined) return [];
    const place = placeOf(found, label, bearer(server["authorization_token"]));
    const toolset = toolsets.get(label);
    const [permits, isDeferred] = [enabledIn(server, toolset), deferredIn(toolset)];
    return [{ label, place, index: undefined, permits, needsApproval: () => false, isDeferred }];
  });
}

/** The gateway's own servers take the caller's token alone. Throws 422 for headers that are none. */
function placeOf(found: NamedServer | { url: string }, label: string, headers: JsonObject): AskedPlace {
  if ("name" in found) return found;
  const given = Object.entries(headers).filter(([name]) => !ownHeaders.test(name));
  const isValid = given.every(
    ([name, value]) => HEADER_NAME.test(name) && typeof value === "string" && HEADER_VALUE.test(value),
  );
  if (!isValid || given.length > HEADERS_MAX) {
    const message = `tools: the headers for the server ${JSON.stringify(label.slice(0, 80))} are not valid.`;
    throw new GatewayError("validation_failed", message, { param: "tools" });
  }
  return {
    url: found.url,
    headers: Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)])),
  };
}

const HEADERS_MAX = 50;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?$/;

/** Those that the gateway itself sets. */
const ownHeaders =
  /^(?:host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept|accept-encoding|proxy-.*|mcp-.*)$/i;

function bearer(token: unknown): JsonObject {
  const given = wordOf(token);
  if (given === undefined) return {};
  return { authorization: /^Bearer /i.test(given) ? given : `Bearer ${given}` };
}

/** A list of names, or a filter. */
function permittedBy(allowed: unknown): AskedServer["permits"] {
  if (!Array.isArray(allowed)) return filterOf(allowed) ?? (() => true);
  const permitted = new Set<unknown>(listOf(allowed));
  return ({ name }) => permitted.has(name);
}

/** OpenAI asks before every call, unless the request has another rule. */
function approvalOf({ require_approval: required }: JsonObject): AskedServer["needsApproval"] {
  if (required === "never") return () => false;
  const lists = objectOf(required);
  if (lists === undefined) return () => true;
  const [always, never] = [filterOf(lists["always"]), filterOf(lists["never"])];
  return (tool) => always?.(tool) === true || never?.(tool) !== true;
}

function filterOf(value: unknown): ((tool: ListedTool) => boolean) | undefined {
  const filter = objectOf(value);
  if (filter === undefined) return undefined;
  const { tool_names: names, read_only: readOnly } = filter;
  const named = Array.isArray(names) ? new Set<unknown>(names) : undefined;
  return ({ name, isReadOnly }) =>
    (named?.has(name) ?? true) && (typeof readOnly !== "boolean" || readOnly === isReadOnly);
}

/** Of the first beta a member of the server, of the second a tool of its own. */
function enabledIn(server: JsonObject, toolset: JsonObject | undefined): AskedServer["permits"] {
  const configuration = objectOf(server["tool_configuration"]);
  if (configuration?.["enabled"] === false) return () => false;
  if (toolset === undefined) return permittedBy(configuration?.["allowed_tools"]);
  return settingIn(toolset, "enabled", true);
}

function deferredIn(toolset: JsonObject | undefined): AskedServer["isDeferred"] {
  return toolset === undefined ? () => false : settingIn(toolset, "defer_loading", false);
}

/** A setting of each tool: its own, else that of all. */
function settingIn(toolset: JsonObject, member: string, byDefault: boolean): ({ name }: ListedTool) => boolean {
  const configs = objectOf(toolset["configs"]) ?? {};
  const common = objectOf(toolset["default_config"])?.[member];
  return ({ name }) => {
    const own = Object.hasOwn(configs, name) ? objectOf(configs[name])?.[member] : undefined;
    return [own, common].find((value) => typeof value === "boolean") ?? byDefault;
  };
}

function wordOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The body without these servers. */
export function withoutServers(body: JsonObject, asked: readonly AskedServer[]): JsonObject {
  if (asked.every(({ index }) => index !== undefined)) return body;
  const labels = new Set<unknown>(asked.map(({ label }) => label));
  const { mcp_servers: servers, ...rest } = body;
  const others = objectsOf(servers).filter(({ name }) => !labels.has(name));
  const tools = listOf(body["tools"]).filter((tool) => {
    const { type, mcp_server_name: name } = objectOf(tool) ?? {};
    return type !== "mcp_toolset" || !labels.has(name);
  });
  return {
    ...rest,
    ...(others.length > 0 && { mcp_servers: others }),
    ...(body["tools"] !== undefined && { tools }),
  };
}

/** The refusal of a server of this gateway whose tools cannot be listed. */
export function serverUnavailable({ label }: AskedServer): GatewayError {
  const message = `tools: the tools of the server ${JSON.stringify(label.slice(0, 80))} can't be listed now.`;
  return new GatewayError("upstream_unreachable", message, { param: "tools" });
}
