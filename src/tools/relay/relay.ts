/**
 * The methods of other servers besides those for tools: prompts, resources and completions. At the URL of a server they pass as they are.
 * At that of a set, lists are those of all members: prompts are named `server__prompt`, resources keep their addresses.
 */
import {
  CallAborter,
  type CallSignal,
  GatewayError,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  stringOf,
} from "../../core/index.ts";
import { type ClientInput, rpcCodes, type ServerLog } from "../../mcp/index.ts";
import { listPages } from "../list-pages.ts";
import { ServerError } from "../client/server-answer.ts";
import type { ToolCaller } from "../server-access.ts";
import type { ToolServer } from "../tool-server.ts";
import { addressLists } from "./known-resources.ts";

/** The lists, by their methods, with the member of a result that has the items. */
const lists = {
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
} as const;

type ListMethod = keyof typeof lists;

const isList = (method: string): method is ListMethod => Object.hasOwn(lists, method);

/** Pages of one member's list, and the items of all members. */
const PAGES_MAX = 20;
const ITEMS_MAX = 5_000;

/** Error codes of the protocol. */
const RESOURCE_NOT_FOUND = -32_002;

export interface RelayOptions {
  members: readonly ToolServer[];
  /** Whether the members are those of a set. */
  isSet: boolean;
  caller: ToolCaller;
  signal: AbortSignal;
  /** The questions that the client takes, and its answers. */
  input: ClientInput | undefined;
  /** Undefined if the client wants no log messages. */
  log?: ServerLog | undefined;
  /** The caller's span, as headers of W3C Trace Context. */
  trace?: Readonly<Record<string, string>>;
}

interface Asked {
  method: string;
  params: JsonObject;
}

/** The result of a method. Rejects with a `ServerError` for a refusal, or with a `GatewayError`. */
export async function relay(options: RelayOptions, { method, params }: Asked): Promise<JsonObject> {
  const [only] = options.members;
  if (!options.isSet && only !== undefined) return ask(only, options, { method, params });
  if (isList(method)) {
    if (params["cursor"] !== undefined) throw new ServerError(rpcCodes.invalidParams, "There is no such cursor.");
    return listed(options, method);
  }
  if (method === "prompts/get") {
    const { server, name } = promptIn(options, params["name"]);
    return ask(server, options, { method, params: { ...params, name } });
  }
  if (method === "resources/read") {
    return ask(await resourceOwner(options, stringOf(params["uri"])), options, { method, params });
  }
  return completed(options, params);
}

async function completed(options: RelayOptions, params: JsonObject): Promise<JsonObject> {
  const reference = objectOf(params["ref"]) ?? {};
  const method = "completion/complete";
  if (reference["type"] === "ref/resource") {
    const server = await resourceOwner(options, stringOf(reference["uri"]));
    return ask(server, options, { method, params });
  }
  const { server, name } = promptIn(options, reference["name"]);
  return ask(server, options, { method, params: { ...params, ref: { ...reference, name } } });
}

/** The methods in which a server may ask the client first, besides calls of tools. */
const mayBeAsked: ReadonlySet<string> = new Set(["prompts/get", "resources/read"]);

interface Taking extends Partial<Pick<RelayOptions, "input" | "log" | "trace">> {
  signal: CallSignal;
}

/** A server without a list has an empty one. */
async function ask(
  server: ToolServer,
  { caller, signal, input, log, trace }: Pick<RelayOptions, "caller"> & Taking,
  { method, params }: Asked,
): Promise<JsonObject> {
  try {
    const taken = mayBeAsked.has(method) ? input : undefined;
    return await server.ask(caller, { method, params, signal, log, trace, input: taken });
  } catch (thrown) {
    if (!(thrown instanceof ServerError) || thrown.code !== rpcCodes.methodNotFound) throw thrown;
    if (isList(method)) return { [lists[method]]: [] };
    if (method === "completion/complete") return { completion: { values: [] } };
    throw thrown;
  }
}

/** The server of a prompt of a set; names of servers have no underscore. */
function promptIn({ members }: RelayOptions, given: unknown): { server: ToolServer; name: string } {
  const [, prefix, name = ""] = /^([^_]+)__(.+)$/s.exec(stringOf(given)) ?? [];
  const server = members.find((member) => member.name === prefix);
  if (server === undefined) throw new ServerError(rpcCodes.invalidParams, "There is no such prompt here.");
  return { server, name };
}

interface MemberList {
  server: ToolServer;
  /** Undefined if it could not be read. */
  items: readonly JsonObject[] | undefined;
}

async function listed(options: RelayOptions, method: ListMethod): Promise<JsonObject> {
  const found = await Promise.all(options.members.map((server) => readList(server, options, method)));
  const items = found.flatMap(({ server, items: own = [] }) =>
    own.map((item) =>
      method === "prompts/list" ? { ...item, name: `${server.name}__${stringOf(item["name"])}` } : item,
    ),
  );
  const missing = found.filter(({ items: own }) => own === undefined).map(({ server }) => server.name);
  const shown = method === "prompts/list" ? items : withoutShared(items, addressOf);
  return {
    [lists[method]]: shown.slice(0, ITEMS_MAX),
    ...(missing.length > 0 && { _meta: { "tollgate/unavailable": missing } }),
  };
}

const addressOf = (item: JsonObject): string => stringOf(item["uri"] ?? item["uriTemplate"]);

/** Those with an address that several members use are read at the URL of their server. */
function withoutShared(items: readonly JsonObject[], keyOf: (item: JsonObject) => string): JsonObject[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return items.filter((item) => counts.get(keyOf(item)) === 1);
}

/** A member that cannot be reached costs its own items alone. */
async function readList(server: ToolServer, options: RelayOptions, method: ListMethod): Promise<MemberList> {
  try {
    return { server, items: await itemsOf(server, options, method) };
  } catch (thrown) {
    if (options.signal.aborted || !(thrown instanceof ServerError || thrown instanceof GatewayError)) throw thrown;
    return { server, items: undefined };
  }
}

/** Of all pages. */
async function itemsOf(
  server: ToolServer,
  options: Pick<RelayOptions, "caller"> & { signal: CallSignal },
  method: ListMethod,
): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for await (const page of listPages(PAGES_MAX, (params) => ask(server, options, { method, params }))) {
    items.push(...objectsOf(listOf(page[lists[method]])));
    if (items.length >= ITEMS_MAX) break;
  }
  return items;
}

/** The member with this resource, by its address or by a template. Rejects if there is none, or several. */
export async function resourceOwner(
  { members, caller }: Pick<RelayOptions, "members" | "caller">,
  address: string,
): Promise<ToolServer> {
  // A list that is read is for all callers who wait for it: it does not end with one of them.
  const signal = new CallAborter();
  for (const list of addressLists) {
    const found = await Promise.all(
      members.map(async (server) => {
        const known = await server.resourcesFor(caller);
        const read = (): Promise<readonly JsonObject[]> => itemsOf(server, { caller, signal }, list);
        return (await known?.has(list, address, read)) === true ? [server] : [];
      }),
    );
    const [owner, ...others] = found.flat();
    if (owner !== undefined && others.length > 0) {
      const urls = [owner, ...others].map(({ name }) => `/mcp/${name}`).join(" and ");
      throw new ServerError(RESOURCE_NOT_FOUND, `Several servers have this resource: read it at ${urls}.`);
    }
    if (owner !== undefined) return owner;
  }
  throw new ServerError(RESOURCE_NOT_FOUND, "There is no such resource here.");
}
