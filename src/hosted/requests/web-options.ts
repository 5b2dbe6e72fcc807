/** The settings of a tool for searches or pages of the web. */
import { GatewayError, type JsonObject, listOf, objectOf } from "../../core/index.ts";

export interface WebOptions {
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

const sizes = ["low", "medium", "high"] as const;

export function webOptions(tool: JsonObject): WebOptions {
  const filters = objectOf(tool["filters"]) ?? tool;
  const { search_context_size: size, max_content_tokens: tokens } = tool;
  const allowed = wordsOf(filters["allowed_domains"]);
  const blocked = wordsOf(filters["blocked_domains"] ?? filters["excluded_domains"]);
  return {
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
export function requireDomains({ unreadDomain }: WebOptions): void {
  if (unreadDomain === undefined) return;
  const message = `tools: ${JSON.stringify(unreadDomain.slice(0, 80))} is no domain.`;
  throw new GatewayError("validation_failed", message, { param: "tools" });
}

/** A whole number from 0 on. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function wordsOf(value: unknown): string[] {
  return listOf(value).filter((each) => typeof each === "string");
}
