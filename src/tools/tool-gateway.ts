/** The servers of tools by the URL that they are called at: one by its name, several as a set. */
import type { PaidAnswer, PaidRequest } from "../charges/index.ts";
import { allows, type GatewayError, type JsonObject } from "../core/index.ts";
import { callServerTool, type ClientOfCall, type ToolCallDependencies, type ToolTarget } from "./tool-call.ts";
import { type IndexedList, ToolIndex } from "./search/sql/tool-index.ts";
import { Listings } from "./listings.ts";
import { prefixedName, takenName } from "./tool-names.ts";
import type { ToolCaller } from "./server-access.ts";
import type { ServerTool } from "./server-list.ts";
import type { ToolServer } from "./tool-server.ts";
import type { NamedServer, UrlServers } from "./url-servers.ts";

/** Several servers at one URL. */
export interface ToolSet {
  /** Names of servers. */
  servers: readonly string[];
  /** Whether the gateway's own tools are in it. */
  hasOwn: boolean;
  /** Globs of `server__tool`; undefined for all. */
  tools: readonly string[] | undefined;
  /** Whether names begin with that of the server. `never`: only those that several servers use. */
  prefix: "always" | "never";
}

export interface ToolGatewayOptions extends ToolCallDependencies {
  servers: readonly ToolServer[];
  sets: ReadonlyMap<string, ToolSet>;
  /** Whether one of the gateway's own tools has this name. */
  isOwnName: (name: string) => boolean;
  /** At addresses that callers name; undefined if they may name none. */
  urls: UrlServers | undefined;
}

/** The tools at one URL. */
export interface ToolDoor {
  /** Whether the gateway's own tools are there too. */
  hasOwn: boolean;
  /** Globs for the gateway's own tools; undefined for all. */
  own: readonly string[] | undefined;
  /** Of the server or the set; `all`, or empty for the gateway's own tools. */
  name: string;
  /** The lists that are found for a caller, of which one that has changed is another object. */
  sources: (caller: ToolCaller) => Promise<readonly unknown[]>;
  /** The tools that the seeker may call, by the names that clients use, and the servers whose tools are missing. */
  find: (seeker: ToolSeeker) => Promise<FoundTools>;
  /** The servers of which the seeker may call a tool. */
  callableFor: (seeker: Omit<ToolSeeker, "name">) => Promise<readonly ToolServer[]>;
  /** The servers whose prompts and resources the caller may have there. */
  membersFor: (mayCall: ToolSeeker["mayCall"]) => readonly ToolServer[];
  /** Whether there may be several servers. */
  isSet: boolean;
  /** Searches the tools there that `mayCall` permits, and the gateway's own, of which the list has all. */
  search: (query: ToolQuery) => Promise<readonly SearchedTool[]>;
}

/** Who looks for tools, and for which. */
export interface ToolSeeker {
  caller: ToolCaller;
  /** Whether a tool, as `server__tool`, is permitted. */
  mayCall: (name: string) => boolean;
  /** Only the server with this tool is asked, if its name shows which one that is. */
  name?: string | undefined;
}

export interface ToolQuery extends Omit<ToolSeeker, "name"> {
  query: string;
  /** The most tools that are returned. */
  limit: number;
  own: IndexedList;
}

export interface SearchedTool {
  /** By which the caller calls it. */
  name: string;
  definition: JsonObject;
}

interface FoundTools {
  tools: ReadonlyMap<string, ToolTarget>;
  unavailable: readonly string[];
  /** Those of them that need credentials of the caller, who has given none. */
  unconnected: readonly string[];
  /** Those of them that refuse the credentials of the caller. */
  refusals: ReadonlyMap<string, GatewayError>;
}

interface OfferedTool {
  target: ToolTarget;
  /** `server__tool`, by which tokens and sets name it. */
  full: string;
}

export class ToolGateway {
  readonly #options: ToolGatewayOptions;
  readonly #servers: ReadonlyMap<string, ToolServer>;
  readonly #index = new ToolIndex();
  readonly listings = new Listings();

  constructor(options: ToolGatewayOptions) {
    this.#options = options;
    this.#servers = new Map(options.servers.map((server) => [server.name, server]));
  }

  /** All servers, and the gateway's own tools. */
  get all(): ToolDoor {
    const servers = [...this.#servers.keys()];
    return this.#doorOf("all", { servers, hasOwn: true, tools: undefined, prefix: "always" });
  }

  /** The gateway's own tools alone. */
  get own(): ToolDoor {
    return this.#doorOf("", { servers: [], hasOwn: true, tools: undefined, prefix: "always" });
  }

  /** The tools at `/mcp/{name}`; undefined if there is no such server or set. */
  door(name: string): ToolDoor | undefined {
    if (name === "all") return this.all;
    const set = this.#options.sets.get(name);
    if (set !== undefined) return this.#doorOf(name, set);
    const server = this.#servers.get(name);
    return server && this.#doorTo(server);
  }

  /** Whether a caller may name a server at this address. */
  permitsUrl(url: string): boolean {
    return this.#options.urls?.permits(url) === true;
  }

  /** The tools of a server at an address that a caller names; undefined if they may not. */
  doorAt(named: NamedServer): ToolDoor | undefined {
    const server = this.#options.urls?.server(named);
    return server && this.#doorTo(server);
  }

  #doorTo(server: ToolServer): ToolDoor {
    return {
      hasOwn: false,
      own: undefined,
      name: server.name,
      isSet: false,
      membersFor: (mayCall) => permitted([server], mayCall),
      callableFor: (seeker) => callableIn([server], seeker),
      sources: sourcesOf([server]),
      find: (seeker) => findIn([server], seeker, { isBare: true }),
      search: (query) => this.#search(query, { members: [server], shownName: (_server, tool) => takenName(tool) }),
    };
  }

  /** Names are made for those that are found alone: a caller may see ten thousand tools. */
  async #search(
    { query, limit, caller, mayCall, own }: ToolQuery,
    { members, shownName }: Searched,
  ): Promise<SearchedTool[]> {
    const lists = new Map<string, IndexedList>([[OWN, own]]);
    for (const { server, access, list } of await Promise.all(members.map((member) => member.tools(caller))))
      if (list !== undefined && access !== undefined) lists.set(indexKey(server.name, access.key), list);
    await this.#index.update(lists);
    const found: SearchedTool[] = [];
    for (const { list, tool } of this.#index.search(query)) {
      if (found.length >= limit) break;
      const definition = lists.get(list)?.get(tool)?.definition;
      const source = serverIn(list);
      const name = source === OWN ? tool : `${source}__${tool}`;
      const shown = definition !== undefined && mayCall(name) ? shownName(source, tool) : undefined;
      if (definition !== undefined && shown !== undefined) found.push({ name: shown, definition });
    }
    return found;
  }

  #doorOf(name: string, { servers, hasOwn, tools, prefix }: ToolSet): ToolDoor {
    const members = servers.flatMap((server) => this.#servers.get(server) ?? []);
    const { isOwnName } = this.#options;
    const isIn = (full: string): boolean => tools === undefined || allows(tools, full);
    const search = async (query: ToolQuery): Promise<readonly SearchedTool[]> => {
      // Whether a name is shared shows only the whole list.
      const names = prefix === "never" ? await namesBySource(door.find(query)) : undefined;
      const shownName = (server: string, tool: string): string | undefined => {
        if (server === OWN) return hasOwn && isIn(tool) ? tool : undefined;
        if (!isIn(`${server}__${tool}`)) return undefined;
        return names === undefined ? prefixedName(server, tool) : names.get(`${server}__${tool}`);
      };
      return this.#search(query, { members, shownName });
    };
    const door: ToolDoor = {
      hasOwn,
      own: tools,
      name,
      isSet: true,
      sources: sourcesOf(members),
      membersFor: (mayCall) => permitted(members, (full) => isIn(full) && mayCall(full)),
      callableFor: ({ caller, mayCall }) =>
        callableIn(members, { caller, mayCall: (full) => isIn(full) && mayCall(full) }),
      search,
      find: ({ caller, mayCall, name: tool }) => {
        const seeker = { caller, mayCall: (full: string) => isIn(full) && mayCall(full) };
        if (prefix === "never")
          return findIn(members, seeker, { isBare: true, isTakenBeside: (one) => hasOwn && isOwnName(one) });
        const asked = tool === undefined ? members : members.filter((each) => isPrefix(each.name, tool));
        return findIn(asked, { ...seeker, name: tool }, { isBare: false });
      },
    };
    return door;
  }

  /** Calls a tool. The body of the request contains its arguments, that of the answer its result. */
  call(request: PaidRequest, target: ToolTarget, client: ClientOfCall = {}): Promise<PaidAnswer> {
    return callServerTool(this.#options, request, target, client);
  }
}

/** Those of which a tool of any name may be called; no tool has this one. */
function permitted(servers: readonly ToolServer[], mayCall: ToolSeeker["mayCall"]): ToolServer[] {
  return servers.filter(({ name }) => mayCall(`${name}__*`));
}

/** Without names for the tools: there may be thousands, and as many who listen. */
async function callableIn(
  servers: readonly ToolServer[],
  { caller, mayCall }: Omit<ToolSeeker, "name">,
): Promise<ToolServer[]> {
  const found = await Promise.all(servers.map((server) => server.tools(caller)));
  return found.flatMap(({ server, list }) => {
    const names = list?.keys() ?? [];
    return names.some((name) => mayCall(`${server.name}__${name}`)) ? [server] : [];
  });
}

function sourcesOf(servers: readonly ToolServer[]): ToolDoor["sources"] {
  return async (caller) => {
    const found = await Promise.all(servers.map((server) => server.tools(caller)));
    return found.map(({ access, list }) => (access === undefined ? "unconnected" : list));
  };
}

/** No server has this name. */
const OWN = "tollgate";

/** The list of a server in the index: users with credentials of their own have one each. */
function indexKey(server: string, access: string): string {
  return access === "" ? server : `${server} ${access}`;
}

function serverIn(key: string): string {
  return key.split(" ", 1)[0] ?? key;
}

interface Searched {
  members: readonly ToolServer[];
  /** The name of a tool at the URL; undefined if it is not there. */
  shownName: (server: string, tool: string) => string | undefined;
}

async function namesBySource(finding: Promise<FoundTools>): Promise<ReadonlyMap<string, string>> {
  const { tools } = await finding;
  return new Map([...tools].map(([name, { server, tool }]) => [`${server.name}__${tool.name}`, name]));
}

/** Names of servers have no underscore, so that at most one fits. */
function isPrefix(server: string, name: string): boolean {
  return name.startsWith(`${server}__`);
}

interface Naming {
  isBare: boolean;
  /** Whether something else uses the bare name of a tool, beside the servers; absent if names can't be shared. */
  isTakenBeside?: (name: string) => boolean;
}

async function findIn(
  servers: readonly ToolServer[],
  { caller, mayCall, name: wanted }: ToolSeeker,
  { isBare, isTakenBeside }: Naming,
): Promise<FoundTools> {
  const found = await Promise.all(servers.map((server) => server.tools(caller)));
  const offered = found.flatMap(({ server, access, list }) =>
    access === undefined
      ? []
      : [...candidatesIn(list, { server: server.name, wanted, isBare })].map((tool) => ({
          target: { server, tool, access },
          full: `${server.name}__${tool.name}`,
        })),
  );
  const isShared = isTakenBeside === undefined ? () => false : sharedNames(offered);
  const isTaken = (name: string): boolean => isShared(name) || isTakenBeside?.(name) === true;
  const tools = new Map<string, ToolTarget>();
  for (const { target, full } of offered) {
    if (!mayCall(full)) continue;
    const { name } = target.tool;
    const shown = isBare && !isTaken(name) ? name : prefixedName(target.server.name, name);
    tools.set(isBare ? shown : takenName(shown), target);
  }
  const missing = found.filter(({ list }) => list === undefined);
  return {
    tools,
    unavailable: missing.map(({ server }) => server.name),
    refusals: new Map(
      missing.flatMap(({ server, refusal }) => (refusal === undefined ? [] : [[server.name, refusal]])),
    ),
    unconnected: missing.filter(({ access }) => access === undefined).map(({ server }) => server.name),
  };
}

/** The tool with the wanted name alone, if that name shows which one it is: a list may have thousands. */
function candidatesIn(
  list: ReadonlyMap<string, ServerTool> | undefined,
  { server, wanted, isBare }: { server: string; wanted: string | undefined; isBare: boolean },
): Iterable<ServerTool> {
  if (list === undefined) return [];
  const own = isBare ? wanted : wanted?.slice(`${server}__`.length);
  const tool = own === undefined ? undefined : list.get(own);
  return tool === undefined || (!isBare && prefixedName(server, tool.name) !== wanted) ? list.values() : [tool];
}

function sharedNames(offered: readonly OfferedTool[]): (name: string) => boolean {
  const counts = new Map<string, number>();
  for (const { target } of offered) counts.set(target.tool.name, (counts.get(target.tool.name) ?? 0) + 1);
  return (name) => (counts.get(name) ?? 0) > 1;
}
