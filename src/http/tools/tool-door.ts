/** The tools at one URL for one caller: the gateway's own, and those of other servers. */
import { type Principal, signedTokenIn } from "../../auth/index.ts";
import {
  tasksExtension,
  type ToolAnswer,
  type ToolCall,
  type ToolListing,
  type ToolProgress,
} from "../../mcp/index.ts";
import {
  allows,
  GatewayError,
  type JsonObject,
  objectOf,
  objectsOf,
  parseObject,
  traceHeaders,
} from "../../core/index.ts";
import {
  checkHeaderMembers,
  ConnectionRequiredError,
  DEFAULT_ACCOUNT,
  isQuestion,
  isTask,
  mayCall,
  namedAccounts,
  readTask,
  refusalIn,
  type ToolCaller,
  type ToolDoor,
  type ToolSeeker,
  type ToolTarget,
  withHeaderMembers,
} from "../../tools/index.ts";
import type { RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { answeredInRounds } from "./client-input.ts";
import { callConnect, CONNECT_TOOL, connectDefinitions, toConnect } from "./connect-tool.ts";
import { sealedTask } from "./server-tasks.ts";
import { allowedDefinitions, callOwnTool, isOwnTool } from "./own/own-tools.ts";

/** Who calls, and by which request. */
export interface DoorCaller extends Pick<RouteCall, "requestId" | "principal"> {
  services: Services;
  /** Of a call over plain HTTP. */
  retryKey?: string | undefined;
  /** Those of its request's headers that name a session, an end user, tags or the caller's span. */
  naming: Readonly<Record<string, string>>;
  /** Those of a call that have to repeat some of its arguments; undefined for clients that need not know of it. */
  parameterHeaders?: Headers | undefined;
  /** The accounts that the request names, and the signed token by which it has come in. */
  from: Pick<ToolCaller, "accountAt" | "signedToken">;
}

/** See `DoorCaller`. Throws a 422 `GatewayError` for names of accounts that are none. */
export function fromOf({ url, headers }: Request, { signedUntil, session }: Principal): DoorCaller["from"] {
  const isSigned = signedUntil !== undefined && session === undefined;
  return { accountAt: namedAccounts(url), signedToken: isSigned ? signedTokenIn(headers) : undefined };
}

/** As whom a caller looks for tools. */
export function seekerOf({ principal, from }: Pick<DoorCaller, "principal" | "from">): ToolSeeker {
  return { caller: { user: principal.user, ...from }, mayCall: (name) => mayCall(principal, name) };
}

function isOwnIn({ hasOwn, own }: ToolDoor, name: string): boolean {
  return hasOwn && (own === undefined || allows(own, name));
}

/** The definitions that the caller may see, and the servers whose tools are missing. */
export async function definitionsAt(
  door: ToolDoor,
  caller: Pick<DoorCaller, "principal" | "services" | "from">,
  { hasHeaders = false }: { hasHeaders?: boolean } = {},
): Promise<{ definitions: readonly JsonObject[]; unavailable: readonly string[] }> {
  const { principal, services } = caller;
  const own = allowedDefinitions(services.mcp.models, principal).filter(({ name }) => isOwnIn(door, name));
  const { tools, unavailable, unconnected } = await door.find(seekerOf(caller));
  const others = [...tools].map(
    ([
      name,
      {
        tool: { definition, headers },
      },
    ]): JsonObject => ({
      ...(hasHeaders ? withHeaderMembers(definition, headers) : definition),
      name,
    }),
  );
  const connect = tools.has(CONNECT_TOOL) ? [] : connectDefinitions(toConnect(unconnected, caller));
  return { definitions: [...own.map((each): JsonObject => ({ ...each })), ...connect, ...others], unavailable };
}

/**
 * The same as a text, for a client of 2026-07-28 or an older one: the former repeats some arguments in headers. It is made once for all
 * callers with the same tools.
 */
export async function listingAt(door: ToolDoor, caller: DoorCaller, isStateless: boolean): Promise<ToolListing> {
  const { principal, services } = caller;
  const sources = await door.sources(seekerOf(caller).caller);
  const key = JSON.stringify([door.name, isStateless, principal.tools, principal.toolsAbove]);
  return services.mcp.gateway.listings.of(key, sources, async () => {
    const { definitions, unavailable } = await definitionsAt(door, caller, { hasHeaders: isStateless });
    return { tools: JSON.stringify(definitions), unavailable };
  });
}

/** Resolves with undefined if the caller has no such tool there. Rejects with a `GatewayError`. */
export async function callAt(door: ToolDoor, call: ToolCall, caller: DoorCaller): Promise<ToolAnswer | undefined> {
  const naming = { ...caller.naming, ...call.trace };
  const own = isOwnIn(door, call.name) ? callOwnTool({ ...call, ...caller, naming }) : undefined;
  if (own !== undefined) return own;
  const name = call.name === CONNECT_TOOL ? undefined : call.name;
  const { tools, unconnected, refusals } = await door.find({ ...seekerOf(caller), name });
  const target = tools.get(call.name);
  if (target !== undefined && caller.parameterHeaders !== undefined)
    checkHeaderMembers(target.tool.headers, call.arguments, caller.parameterHeaders);
  if (target !== undefined) return callOther(door, target, { call, caller });
  const connectable = toConnect(unconnected, caller);
  if (name === undefined && connectable.length > 0)
    return callConnect(call, connectable, async (server) => ({ url: await pageFor(server, caller) }));
  const missing = [...unconnected, ...refusals.keys()];
  const server = missing.find((each) => mayBeAt(each, call.name, caller, missing.length));
  if (server !== undefined) throw refusals.get(server) ?? (await askToConnect(server, caller));
  return undefined;
}

/** Whether the name may be that of a tool of this server, which the caller could call with an account there. */
function mayBeAt(server: string, name: string, { principal }: DoorCaller, servers: number): boolean {
  const prefix = `${server}__`;
  const full = name.startsWith(prefix) ? name : `${prefix}${name}`;
  return (servers === 1 || name.startsWith(prefix)) && !isOwnTool(name) && mayCall(principal, full);
}

/** The refusal of a call for want of an account, with the page on which the caller connects it. */
export async function askToConnect(
  server: string,
  caller: Pick<DoorCaller, "principal" | "requestId" | "services" | "from">,
): Promise<GatewayError> {
  const { connectable } = caller.services.mcp;
  const how = connectable.get(server);
  if (how === undefined)
    return new GatewayError(
      "connection_required",
      `The server ${server} takes callers with a token of an identity provider.`,
    );
  if (how.of === "operator")
    return new GatewayError(
      "connection_required",
      `The operator has not connected the account at the server ${server}.`,
    );
  return new ConnectionRequiredError(server, await pageFor(server, caller));
}

/** The page on which the caller connects an account. */
async function pageFor(
  server: string,
  { principal, requestId, services, from }: Parameters<typeof askToConnect>[1],
): Promise<string> {
  const { connections } = services.mcp;
  const place = { server, owner: principal.user, account: from.accountAt(server) ?? DEFAULT_ACCOUNT };
  const actor = { name: `token:${principal.tokenId}`, address: undefined, requestId };
  return connections.pageOf(await connections.open(place, { actor }));
}

async function callOther(
  door: ToolDoor,
  target: ToolTarget,
  { call, caller }: { call: ToolCall; caller: DoorCaller },
): Promise<ToolAnswer> {
  const { requestId, principal, services, retryKey } = caller;
  const retry = retryKey !== undefined && { "idempotency-key": retryKey };
  const named = new Headers({ ...caller.naming, ...call.trace, ...retry });
  const trace = traceHeaders(named);
  const { gateway } = services.mcp;
  const { result, headers = {} } = await answeredInRounds(
    services.mcp,
    {
      owner: [principal.user, "tools/call", target.server.name, target.tool.name],
      input: services.mcp.requestStates.canSeal ? call.input : withoutTasks(call.input),
      signal: call.signal,
      onProgress: call.onProgress && reporterOf(call.onProgress),
      log: call.log,
    },
    async ({ input, signal, onProgress, log }) => {
      const answer = await gateway.call(
        {
          requestId,
          principal,
          headers: named,
          body: Buffer.from(JSON.stringify(call.arguments)),
          client: { signal },
        },
        target,
        { onProgress, input, log, trace, takesRefusals: true },
      );
      const { status, headers: given, body } = answer;
      return { result: parseObject(await new Response(body, { status }).text()) ?? {}, headers: given };
    },
  );
  const refusal = refusalIn(result);
  if (refusal !== undefined) throw refusal;
  if (isTask(result)) {
    const place = { door, user: principal.user, states: services.mcp.requestStates };
    return { result: { task: sealedTask(readTask(result), { tool: call.name, target }, place) }, headers };
  }
  if (isQuestion(result)) return { result: { questions: result }, headers };
  const { content, ...rest } = result;
  const parts = objectsOf(content);
  return {
    result: { ...rest, content: parts },
    headers,
  };
}

/** Without a key, no id of a task could be made that other nodes understand. */
function withoutTasks(input: ToolCall["input"]): ToolCall["input"] {
  if (input === undefined) return input;
  const { [tasksExtension]: _, ...extensions } = objectOf(input.capabilities["extensions"]) ?? {};
  return { ...input, capabilities: { ...input.capabilities, extensions } };
}

function reporterOf(report: (progress: ToolProgress) => void): (params: JsonObject) => void {
  return ({ progress, total, message }) => {
    if (typeof progress !== "number") return;
    report({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  };
}
