/** Tools of servers of this gateway: their lists for one caller, and calls of them as paid work of their own. */
import type { Principal } from "../../auth/index.ts";
import type { PaidRequest } from "../../charges/index.ts";
import { GatewayError, type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../../core/index.ts";
import { mayCall, type ToolGateway, type ToolTarget } from "../../tools/index.ts";
import { type AskedServer, serverUnavailable } from "../requests/asked-servers.ts";
import { fenced } from "./fence.ts";
import { endsLoop, readPart } from "./part-of-loop.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

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
  target: ToolTarget;
}

/** The most characters of a result. */
const RESULT_CHARACTERS_MAX = 200_000;

/** `canAsk`: whether the dialect can ask for approvals; the others get no tools that need one. Rejects with a 502 for a server that lists nothing now. */
export async function findServer(
  gateway: Pick<ToolGateway, "door">,
  asked: AskedServer,
  { principal, canAsk }: { principal: Principal; canAsk: boolean },
): Promise<FoundServer> {
  const found = await gateway.door(asked.door)?.find({
    caller: { user: principal.user, accountAt: () => undefined },
    mayCall: (name) => mayCall(principal, name),
  });
  if (found === undefined || (found.tools.size === 0 && found.unavailable.length > 0)) throw serverUnavailable(asked);
  const tools = [...found.tools].flatMap(([name, target]) =>
    asked.permits(name) ? [toolOf(asked, name, target)] : [],
  );
  return { ...asked, tools: canAsk ? tools : tools.filter(({ needsApproval }) => !needsApproval) };
}

function toolOf(asked: AskedServer, name: string, target: ToolTarget): FoundTool {
  const { description, inputSchema, annotations } = target.tool.definition;
  const isReadOnly = objectOf(annotations)?.["readOnlyHint"] === true;
  return {
    name,
    description: stringOf(description),
    parameters: objectOf(inputSchema) ?? { type: "object", properties: {} },
    isReadOnly,
    needsApproval: asked.needsApproval({ name, isReadOnly }),
    target,
  };
}

interface ServedUse {
  target: ToolTarget;
  arguments: string;
  requestOf: (body: JsonObject) => PaidRequest;
  /** Marks the result. */
  nonce: string;
}

/** Rejects as `useTool` does. */
export async function callServed(
  gateway: Pick<ToolGateway, "call">,
  { target, arguments: text, requestOf, nonce }: ServedUse,
): Promise<ToolOutcome> {
  const input = parseObject(text.trim() === "" ? "{}" : text);
  if (input === undefined) return failed("The arguments are no JSON object.", {}, 0n);
  try {
    const { body: result = {}, cost } = await readPart(await gateway.call(requestOf(input), target));
    const told = textIn(result).slice(0, RESULT_CHARACTERS_MAX);
    if (result["isError"] === true) return failed(told, input, cost);
    return { input, text: fenced(told, nonce), served: told, error: undefined, pages: [], cost, counts: true };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || endsLoop.has(thrown.code)) throw thrown;
    return failed(thrown.message, input, 0n);
  }
}

function failed(message: string, input: JsonObject, cost: bigint): ToolOutcome {
  return { input, text: `Error: ${message}`, served: message, error: "unavailable", pages: [], cost, counts: false };
}

/** The texts of a result; of one without any, its data. */
function textIn({ content, structuredContent }: JsonObject): string {
  const texts = objectsOf(content).flatMap(({ type, text }) => (type === "text" ? [stringOf(text)] : []));
  if (texts.length > 0) return texts.join("\n");
  return JSON.stringify(structuredContent ?? objectsOf(content).map(withoutBytes));
}

function withoutBytes(part: JsonObject): JsonObject {
  const { data: _, ...rest } = part;
  return rest;
}
