/** Tools of servers of this gateway: their lists for one caller, and calls of them as paid work of their own. */
import { type Principal, signedTokenIn } from "../../auth/index.ts";
import type { IncomingCall } from "../../calls/index.ts";
import type { PaidRequest } from "../../charges/index.ts";
import {
  allows,
  GatewayError,
  type JsonObject,
  type Nano,
  objectOf,
  parseCredits,
  parseObject,
  stringOf,
} from "../../core/index.ts";
import { mayCall, namedAccounts, type ToolDoor, type ToolGateway, type ToolTarget } from "../../tools/index.ts";
import { type AskedPlace, type AskedServer, serverUnavailable } from "../requests/asked-servers.ts";
import { fenced } from "./fence.ts";
import { OWN, type OwnTools } from "./own-tools.ts";
import { endsLoop, readPart } from "./part-of-loop.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import { RESULT_CHARACTERS_MAX, textOf } from "./tool-output.ts";

/** A server with the tools that its caller may call. */
export interface FoundServer extends AskedServer {
  tools: readonly FoundTool[];
}

export interface FoundTool {
  name: string;
  description: string;
  parameters: JsonObject;
  isReadOnly: boolean;
  needsApproval: boolean;
  isDeferred: boolean;
  /** Undefined for one of the gateway's own. */
  target: ToolTarget | undefined;
}

/** The parts of the gateway that run the tools. */
export interface ServedBy {
  servers: Pick<ToolGateway, "call">;
  own: OwnTools;
}

export interface ServerSearcher extends Pick<IncomingCall, "principal" | "requestId" | "headers"> {
  /** Whether the dialect can ask for approvals; the others get no tools that need one. */
  canAsk: boolean;
  /** The only tool that is looked for, as `server__tool`. */
  only?: string;
}

export interface Finders {
  servers: Pick<ToolGateway, "door" | "doorAt" | "own">;
  own: OwnTools;
}

/** Rejects with a 502 for a server that lists nothing now, and with the reason of one that refuses or lacks an account of the caller's. */
export async function findServer(
  { servers, own }: Finders,
  asked: AskedServer,
  { principal, requestId, headers, canAsk, only }: ServerSearcher,
): Promise<FoundServer> {
  const door = doorOf(servers, asked.place, principal);
  const isSigned = principal.signedUntil !== undefined && principal.session === undefined;
  const from = {
    accountAt: namedAccounts("url" in asked.place ? "" : (asked.place.address ?? "")),
    signedToken: isSigned ? signedTokenIn(headers) : undefined,
  };
  const found = await door?.find({
    caller: { user: principal.user, ...from },
    mayCall: (name) => (only === undefined || only === name) && mayCall(principal, name),
  });
  if (door === undefined || found === undefined) throw serverUnavailable(asked);
  const listed = [
    ...(door.hasOwn ? own.definitions(principal) : []).map((definition) => ownTool(asked, definition)),
    ...[...found.tools].map(([name, target]) => toolOf(asked, name, target)),
  ].filter((tool) => asked.permits(tool) && (tool.target !== undefined || isOwnIn(door, tool.name)));
  if (listed.length === 0) {
    const [refusal] = found.refusals.values();
    const [unconnected] = found.unconnected;
    if (refusal !== undefined) throw refusal;
    if (unconnected !== undefined) throw await own.connect(unconnected, { principal, requestId, from });
    if (found.unavailable.length > 0) throw serverUnavailable(asked);
  }
  return { ...asked, tools: canAsk ? listed : listed.filter(({ needsApproval }) => !needsApproval) };
}

function doorOf(servers: Finders["servers"], place: AskedPlace, { user }: Principal): ToolDoor | undefined {
  if ("url" in place) return servers.doorAt({ ...place, user });
  return place.name === OWN ? servers.own : servers.door(place.name);
}

/** Whether one of the gateway's own tools is among those of a set. */
function isOwnIn({ own }: ToolDoor, name: string): boolean {
  return own === undefined || allows(own, name);
}

function ownTool(asked: AskedServer, definition: JsonObject): FoundTool {
  return describedTool(asked, stringOf(definition["name"]), definition, undefined);
}

function toolOf(asked: AskedServer, name: string, target: ToolTarget): FoundTool {
  return describedTool(asked, name, target.tool.definition, target);
}

function describedTool(
  asked: AskedServer,
  name: string,
  { description, inputSchema, annotations }: JsonObject,
  target: ToolTarget | undefined,
): FoundTool {
  const isReadOnly = objectOf(annotations)?.["readOnlyHint"] === true;
  return {
    name,
    description: stringOf(description),
    parameters: objectOf(inputSchema) ?? { type: "object", properties: {} },
    isReadOnly,
    needsApproval: asked.needsApproval({ name, isReadOnly }),
    isDeferred: asked.isDeferred({ name, isReadOnly }),
    target,
  };
}

interface ServedUse {
  tool: FoundTool;
  arguments: string;
  requestOf: (body: JsonObject) => PaidRequest;
  /** Marks the result. */
  nonce: string;
}

/** Rejects as `useTool` does. */
export async function callServed(
  by: ServedBy,
  { tool, arguments: text, requestOf, nonce }: ServedUse,
): Promise<ToolOutcome> {
  const input = parseObject(text.trim() === "" ? "{}" : text);
  if (input === undefined) return failed("The arguments are no JSON object.", {}, 0n);
  try {
    const { result, cost } = await resultOf(by, tool, { input, request: requestOf(input) });
    const told = textOf(result).slice(0, RESULT_CHARACTERS_MAX);
    if (result["isError"] === true) return failed(told, input, cost);
    return { input, text: fenced(told, nonce), served: told, error: undefined, pages: [], cost, counts: true };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || endsLoop.has(thrown.code)) throw thrown;
    return failed(thrown.message, input, 0n);
  }
}

/** The result of one call. Rejects with the `GatewayError` of the call. */
export async function resultOf(
  { servers, own }: ServedBy,
  { name, target }: FoundTool,
  { input, request }: { input: JsonObject; request: PaidRequest },
): Promise<{ result: JsonObject; cost: Nano }> {
  if (target !== undefined) {
    const { body: result = {}, cost } = await readPart(await servers.call(request, target));
    return { result, cost };
  }
  const { requestId, principal, headers, client } = request;
  const call = { name, arguments: input, requestId, principal, headers, signal: client.signal };
  const { result, headers: told } = await own.call(call);
  return { result, cost: parseCredits(told["x-tollgate-credits"] ?? "0") };
}

function failed(message: string, input: JsonObject, cost: bigint): ToolOutcome {
  return { input, text: `Error: ${message}`, served: message, error: "unavailable", pages: [], cost, counts: false };
}
