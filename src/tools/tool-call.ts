/** A call of another server's tool as paid work: held before it is sent, charged once its result is there. */
import { z } from "zod";
import { decodeBody, parseBody, type ParsedBody, type ReceivedBody } from "../bodies/index.ts";
import type {
  PaidAnswer,
  PaidRequest,
  Planning,
  RunningWork,
  WayOfWork,
  WorkPlan,
  WorkShell,
} from "../charges/index.ts";
import type { Clock, JsonObject, Places } from "../core/index.ts";
import type { ClientInput, ServerLog } from "../mcp/index.ts";
import { ToolPlace } from "./relay/tool-place.ts";
import type { ServerAccess } from "./server-access.ts";
import type { ServerTool } from "./server-list.ts";
import type { ServerResult, ToolServer } from "./tool-server.ts";

export interface ToolCallDependencies {
  shell: WorkShell;
  clock: Clock;
  /** Of calls under way, shared fairly by users and servers. */
  places: Places;
}

export interface ToolTarget {
  server: ToolServer;
  tool: ServerTool;
  /** By which the caller has found it. */
  access: ServerAccess;
}

/** How the client takes part in a call that goes on. */
export interface ClientOfCall {
  onProgress?: ((params: JsonObject) => void) | undefined;
  input?: ClientInput | undefined;
  log?: ServerLog | undefined;
  /** The caller's span, as headers of W3C Trace Context. */
  trace?: Readonly<Record<string, string>>;
  /** Whether it gets the server's refusal of the arguments as such. Without it, every refusal is a result that a model reads. */
  takesRefusals?: boolean | undefined;
}

interface ToolPlan extends WorkPlan {
  arguments: JsonObject;
}

const anyObject = z.looseObject({});

/** The body of the request contains the arguments, that of the answer the result. Rejects with a `GatewayError`. */
export function callServerTool(
  { shell, clock, places }: ToolCallDependencies,
  request: PaidRequest,
  target: ToolTarget,
  client: ClientOfCall,
): Promise<PaidAnswer> {
  return shell.run(request, new ToolWay({ request, target, clock, places, client }));
}

interface ToolWayOptions {
  request: PaidRequest;
  target: ToolTarget;
  clock: Clock;
  places: Places;
  client: ClientOfCall;
}

class ToolWay implements WayOfWork<JsonObject, ToolPlan> {
  readonly surface = "openai";
  readonly operation: string;
  readonly form = undefined;
  readonly #options: ToolWayOptions;

  constructor(options: ToolWayOptions) {
    this.#options = options;
    const { server, tool } = options.target;
    this.operation = `tool ${server.name}/${tool.name}`;
  }

  parse(bytes: Uint8Array): ParsedBody<JsonObject> {
    return parseBody(bytes, anyObject, []);
  }

  plan(received: ReceivedBody<JsonObject>, { retry }: Planning<never>): ToolPlan {
    if (received.kind === "form") throw new Error("no call of a tool has a form");
    const { request, target, clock } = this.#options;
    const { server, tool } = target;
    const order = {
      id: request.requestId,
      parent: request.parent,
      principal: request.principal,
      operation: "tool" as const,
      dialect: undefined,
      source: { provider: server.name, model: tool.name, modelId: `${server.name}/${tool.name}` },
      price: server.priceOf(tool.name),
      bound: { inputTokens: 0, outputTokens: 0, choices: 1, inputUnits: { toolCalls: 1 } },
      streamed: false,
      retry,
      at: clock(),
    };
    return { order, clientGoneGraceMs: 0, arguments: decodeBody(received) };
  }

  async run(running: RunningWork, plan: ToolPlan): Promise<PaidAnswer> {
    const { result, usage } = await this.#callInTurn(running, plan);
    const body = Buffer.from(JSON.stringify(result));
    const answer = { status: 200, headers: { "content-type": "application/json", ...running.work.rateHeaders }, body };
    running.work.firstByte();
    await running.answer(answer, { usage });
    return answer;
  }

  async #callInTurn(running: RunningWork, plan: ToolPlan): Promise<ServerResult> {
    const { request, target, places, client } = this.#options;
    const { signal } = running.watchdog.abort;
    const owner = request.principal.user;
    const place = await ToolPlace.enter({ places, owner, upstream: target.server.name, signal });
    try {
      return await target.server.call({
        access: target.access,
        tool: target.tool,
        arguments: plan.arguments,
        signal,
        onProgress: client.onProgress,
        log: client.log,
        trace: client.trace,
        takesRefusals: client.takesRefusals === true,
        input: client.input && withoutPlace(client.input, place),
        onSent: (isSent) => running.noteSent(isSent),
      });
    } finally {
      place.end();
    }
  }
}

function withoutPlace({ ask, ...input }: ClientInput, place: ToolPlace): ClientInput {
  if (ask === undefined) return input;
  return { ...input, ask: (question) => place.without(() => ask(question)) };
}
