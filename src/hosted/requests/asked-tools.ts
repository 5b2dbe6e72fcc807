/** The hosted tools of a body that the gateway can run, in the terms of each dialect. */
import { GatewayError, type JsonObject, listOf, objectOf, stringOf } from "../../core/index.ts";

/** The dialects whose clients know hosted tools. */
export type HostedDialect = "chat" | "messages" | "responses";

export type HostedKind = "search" | "fetch";

export interface AskedTool {
  kind: HostedKind;
  /** Its place in the list of tools; undefined for a member of the body. */
  index: number | undefined;
  /** As its client names it: a type, or the member of the body. */
  type: string;
  /** Its own limit of uses. */
  usesMax: number | undefined;
  /** Hosts as addresses have them. */
  allowedDomains: readonly string[];
  blockedDomains: readonly string[];
  /** One of its domains that is none; undefined if all are. */
  unreadDomain: string | undefined;
  /** How much of the pages the model gets. */
  size: "low" | "medium" | "high";
  /** The most of one page, in tokens. */
  contentTokensMax: number | undefined;
  /** Whether results near a place are asked for. */
  hasLocation: boolean;
}

const SEARCH = /^web_search(?:_preview)?(?:_\d{4}_\d\d_\d\d|_\d{8})?$/;
const FETCH = /^web_fetch_\d{8}$/;

/** The member of a chat body that asks for searches. */
const SEARCH_MEMBER = "web_search_options";

/** Whether a body may have such tools: a look at the types alone, since every call is asked. */
export function mayHaveHosted(dialect: HostedDialect, body: JsonObject): boolean {
  const { tools } = body;
  if (dialect === "chat" && objectOf(body[SEARCH_MEMBER]) !== undefined) return true;
  return Array.isArray(tools) && tools.some((tool) => kindOf(objectOf(tool)?.["type"]) !== undefined);
}

/** Undefined for a tool that the gateway does not run. */
export function kindOf(type: unknown): HostedKind | undefined {
  if (typeof type !== "string" || !type.startsWith("web_")) return undefined;
  return SEARCH.test(type) ? "search" : FETCH.test(type) ? "fetch" : undefined;
}

/** The most hosted tools and servers of one body: each is looked at in several places. */
const HOSTED_MAX = 128;

/** Throws 422 for a body with more hosted tools and servers of tools than that. */
export function requireFewHosted({ tools, mcp_servers: servers }: JsonObject): void {
  let count = listOf(servers).length;
  for (const tool of listOf(tools)) {
    const type = objectOf(tool)?.["type"];
    if (type === "mcp" || kindOf(type) !== undefined) count += 1;
  }
  if (count <= HOSTED_MAX) return;
  const message = `tools: there are ${count} hosted tools and servers; ${HOSTED_MAX} are permitted.`;
  throw new GatewayError("validation_failed", message, { param: "tools" });
}

export function askedTools(dialect: HostedDialect, body: JsonObject): AskedTool[] {
  const listed = listOf(body["tools"]).flatMap((each, index) => {
    const tool = objectOf(each);
    const kind = kindOf(tool?.["type"]);
    return tool === undefined || kind === undefined ? [] : [readTool(tool, kind, index)];
  });
  const options = dialect === "chat" ? objectOf(body[SEARCH_MEMBER]) : undefined;
  if (options === undefined) return listed;
  return [...listed, { ...readTool(options, "search", undefined), type: SEARCH_MEMBER }];
}

const sizes = ["low", "medium", "high"] as const;

function readTool(tool: JsonObject, kind: HostedKind, index: number | undefined): AskedTool {
  const filters = objectOf(tool["filters"]) ?? tool;
  const { max_uses: uses, search_context_size: size, max_content_tokens: tokens } = tool;
  const allowed = wordsOf(filters["allowed_domains"]);
  const blocked = wordsOf(filters["blocked_domains"] ?? filters["excluded_domains"]);
  return {
    kind,
    index,
    type: stringOf(tool["type"]),
    usesMax: countOf(uses),
    allowedDomains: allowed.flatMap((domain) => domainHost(domain) ?? []),
    blockedDomains: blocked.flatMap((domain) => domainHost(domain) ?? []),
    unreadDomain: [...allowed, ...blocked].find((domain) => domainHost(domain) === undefined),
    size: sizes.find((one) => one === size) ?? "medium",
    contentTokensMax: countOf(tokens),
    hasLocation: objectOf(tool["user_location"]) !== undefined,
  };
}

const DOMAIN_CHARACTERS_MAX = 255;
const ADDRESS_CHARACTERS_MAX = 2_048;

/** The host of a domain as people write it, which may have a scheme, a star, a port and a path. Undefined for another text. */
function domainHost(domain: string): string | undefined {
  if (domain.length > ADDRESS_CHARACTERS_MAX) return undefined;
  const place = domain.trim().replace(/^https?:\/\//i, "");
  return hostIn(`http://${place.startsWith("*.") ? place.slice(2) : place}`);
}

/** The host of an address: in lower case, without a port and without the dot that may end it. Undefined for one without. */
export function hostIn(address: string): string | undefined {
  const { hostname = "" } = URL.parse(address) ?? {};
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return host === "" || host.length > DOMAIN_CHARACTERS_MAX ? undefined : host;
}

/** Throws 422 for a tool that the gateway would run with a list of domains that it cannot read. */
export function requireDomains({ unreadDomain }: AskedTool): void {
  if (unreadDomain === undefined) return;
  const message = `tools: ${JSON.stringify(unreadDomain.slice(0, 80))} is no domain.`;
  throw new GatewayError("validation_failed", message, { param: "tools" });
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function wordsOf(value: unknown): string[] {
  return listOf(value).filter((each) => typeof each === "string");
}

/** The body without these tools, and without a choice that names one of them. */
export function withoutTools(body: JsonObject, asked: readonly AskedTool[]): JsonObject {
  const places = new Set(asked.map(({ index }) => index));
  const { [SEARCH_MEMBER]: member, ...rest } = body;
  const kept = places.has(undefined) || member === undefined ? rest : { ...rest, [SEARCH_MEMBER]: member };
  if (body["tools"] === undefined) return kept;
  return { ...kept, tools: listOf(body["tools"]).filter((_tool, index) => !places.has(index)) };
}
