/** A configuration to look at: without its secrets. */
import { listOf, matchesGlob, objectOf } from "../core/index.ts";
import type { Config } from "./schema.ts";

/** In place of a secret. */
export const MASK = "***";

/**
 * The paths of texts that are shown; `*` stands for the keys of a record and the places of a list. A text that is not listed is masked,
 * so that a new setting is a secret until somebody decides that it is none.
 */
export const shownTexts: readonly string[] = [
  "server.host",
  "server.timezone",
  "server.cors.origins.*",
  "server.tls.*",
  "server.public_url",
  "server.beta_url",
  "storage_*",
  "log.*",
  "batches.native",
  "batches.native.*",
  "upstream.client",
  "routing.*",
  "metrics.host",
  "metrics.accounts.by",
  "metrics.names",
  "otlp.names",
  "otlp.resource.*",
  "alerts.channels.*.kind",
  "alerts.channels.*.to.*",
  "alerts.channels.*.from",
  "alerts.rules.*",
  "retention.*",
  "auth.issuers.*",
  "auth.sign_in.*.issuer",
  "auth.sign_in.*.client_id",
  "auth.sign_in.*.scopes.*",
  "auth.sign_in.*.claims.*",
  "auth.sign_in.*.require.*",
  "auth.sign_in.*.roles.*",
  "auth.sign_in.*.organisation",
  "providers.*.kind",
  "providers.*.keys.*.name",
  "providers.*.keys.*.models.*",
  "providers.*.aliases.*",
  "providers.*.preset",
  "providers.*.dialects.*",
  "tools.hosted.*",
  "web.engine",
  "web.engine.kind",
  "web.search.backend",
  "web.screenshots",
  "web.search.without_users.*",
  "web.model",
  "web.vision_model",
  "web.user_agent",
  "web.browser.*",
  "web.allow_private_hosts.*",
  "web.allow_ports.*",
  "models.aliases.*",
  "mcp.models.*",
  "mcp.servers.*.tools.*",
  "mcp.servers.*.price.errors.*",
  "mcp.servers.*.idempotent.*",
  "mcp.servers.*.openapi",
  "mcp.servers.*.auth.header",
  "mcp.servers.*.auth.of",
  "mcp.servers.*.auth.oauth.client_id",
  "mcp.servers.*.auth.exchange.client_id",
  "mcp.servers.*.auth.exchange.audience",
  "mcp.servers.*.auth.exchange.scopes.*",
  "mcp.servers.*.auth.oauth.scopes.*",
  "mcp.servers.*.command",
  "mcp.servers.*.directory",
  "mcp.servers.*.user",
  "mcp.servers.*.instance",
  "mcp.sets.*",
  "pricing.unpriced",
  "pricing.models.*",
];

/** Those of addresses: without user, password, query and fragment, each of which may be a secret. */
export const shownAddresses: readonly string[] = [
  "storage",
  "providers.*.base_url",
  "web.engine.base_url",
  "web.search.base_url",
];

/** Those of addresses whose path may be a secret too, as services give them out: of these only the origin. */
export const shownOrigins: readonly string[] = [
  "otlp.endpoint",
  "otlp.traces.endpoint",
  "otlp.metrics.endpoint",
  "mcp.allow_server_urls.*",
  "mcp.servers.*.url",
  "mcp.servers.*.auth.exchange.token_url",
  "mcp.servers.*.auth.oauth.issuer",
  "pricing.catalog",
];

/** The settings in force as JSON; durations are milliseconds, sizes bytes. */
export function maskedConfig(config: Config): unknown {
  return masked(config, "");
}

function masked(value: unknown, path: string): unknown {
  if (typeof value === "string") return shown(value, path);
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return listOf(value).map((item, index) => masked(item, within(path, String(index))));
  const entries = Object.entries(objectOf(value) ?? {}).filter(([, member]) => member !== undefined);
  if (objectOf(value) === undefined) return null;
  return Object.fromEntries(entries.map(([key, member]) => [key, masked(member, within(path, key))]));
}

/** Dots in a key would be read as further keys. */
function within(path: string, key: string): string {
  const name = key.replaceAll(".", "_");
  return path === "" ? name : `${path}.${name}`;
}

function shown(text: string, path: string): string {
  if (shownAddresses.some((pattern) => isAt(path, pattern))) return plainAddress(text);
  if (shownOrigins.some((pattern) => isAt(path, pattern))) return originOf(text);
  return shownTexts.some((pattern) => isAt(path, pattern)) ? text : MASK;
}

/** Whether the pattern is of this path, key by key. A `*` at its end is also everything below. */
export function isAt(path: string, pattern: string): boolean {
  const [keys, parts] = [path.split("."), pattern.split(".")];
  const hasLength = parts.at(-1) === "*" ? keys.length >= parts.length : keys.length === parts.length;
  return hasLength && parts.every((part, index) => matchesGlob(part, keys[index] ?? ""));
}

/** An address without the parts that may be a secret. */
function plainAddress(text: string): string {
  if (!URL.canParse(text)) return text.includes("@") ? MASK : text;
  const url = new URL(text);
  [url.username, url.password, url.search, url.hash] = ["", "", "", ""];
  // Of a scheme that is not special, as of postgres, a name that stays can't be cleared.
  return url.username === "" && url.password === "" ? url.href : MASK;
}

/** The origin of an address, without its path, which may be a secret; masked for one without an origin. A file's path is none. */
export function originOf(text: string): string {
  if (!URL.canParse(text)) return plainAddress(text);
  const { origin } = new URL(text);
  return origin === "null" ? MASK : origin;
}
