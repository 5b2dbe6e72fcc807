/** The headers that a client sends with a message. They repeat members of its body, for proxies that route by headers alone. */
import { type JsonObject, objectOf } from "../core/index.ts";
import { valueForHeader } from "./header-values.ts";
import { nameOf, versionKey } from "./revisions.ts";

/** Of a message of the stateless era; empty for an older one, whose revision belongs to its session. */
export function clientHeaders({ method, params }: { method: string; params: JsonObject }): Record<string, string> {
  const revision = objectOf(params["_meta"])?.[versionKey];
  if (typeof revision !== "string") return {};
  const headers = { "mcp-protocol-version": valueForHeader(revision), "mcp-method": valueForHeader(method) };
  const name = nameOf(method, params);
  return name === undefined ? headers : { ...headers, "mcp-name": valueForHeader(name) };
}
