/** The methods of both eras that a server of tools has, besides the short ones. */
import { type JsonObject, objectOf, traceHeaders } from "../core/index.ts";
import {
  invalidParams,
  notificationText,
  resultText,
  RpcError,
  type RpcId,
  rpcCodes,
  urlRequired,
} from "./json-rpc.ts";
import { ClientLog } from "./client-log.ts";
import { logLevelOf } from "./log-levels.ts";
import type { SessionStates } from "./session-states.ts";
import type { FinishedAnswer, Outgoing } from "./outgoing.ts";
import { acknowledged, askedUser, begun, called, followed, relayedResult } from "./results.ts";
import { askableOf, type Era, takesTasks, takesUrls, tasksExtension } from "./revisions.ts";
import {
  type ClientInput,
  type McpServer,
  RESOURCES_MAX,
  type TaskRequest,
  type ToolAnswer,
  type ToolProgress,
} from "./server.ts";

/** A request that is being answered. */
export interface McpCall {
  id: RpcId;
  method: string;
  params: JsonObject;
  era: Era;
  server: McpServer;
  signal: AbortSignal;
  outgoing: Outgoing;
  /** Those of clients of 2025, of which this one's id is undefined if it has none. */
  states: SessionStates;
  session: string | undefined;
  owner: string;
  /** Asks the client of a session; undefined if that takes no questions now. */
  ask: ClientInput["ask"];
}

/** Of the address of a resource. */
const URI_CHARACTERS_MAX = 2_048;

type Method = (call: McpCall) => FinishedAnswer | Promise<FinishedAnswer>;

/** Those of other servers. */
const relayed: Readonly<Record<string, Method>> = Object.fromEntries(
  [
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
  ].map((name) => [name, relayToServers]),
);

const sessionMethods: Readonly<Record<string, Method>> = {
  ...relayed,
  "logging/setLevel": setLevel,
  "resources/subscribe": subscribe,
  "resources/unsubscribe": subscribe,
  "tools/call": callTool,
};

const statelessMethods: Readonly<Record<string, Method>> = {
  ...relayed,
  "tools/call": callTool,
  "tasks/get": getTask,
  "tasks/update": updateTask,
  "tasks/cancel": cancelTask,
};

/** Throws -32601 (404 in the stateless era) for a method that there is not. */
export function methodOf({ stateless }: Era, name: string): Method {
  const methods = stateless ? statelessMethods : sessionMethods;
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method !== undefined) return method;
  throw noMethod(stateless);
}

function noMethod(isStateless: boolean): RpcError {
  return new RpcError(rpcCodes.methodNotFound, "There is no such method here.", { status: isStateless ? 404 : 200 });
}

async function relayToServers(call: McpCall): Promise<FinishedAnswer> {
  const { id, method, params, server, era, signal } = call;
  if (server.relay === undefined) throw noMethod(era.stateless);
  const { inputResponses: _responses, requestState: _state, ...own } = params;
  const log = ClientLog.of(call);
  const result = await server.relay({ method, params: own, signal, input: inputOf(call), log, trace: traceIn(params) });
  await log?.sent();
  return { text: resultText(id, relayedResult(result, server, era.stateless)) };
}

async function setLevel({ id, params, server, states, session, owner }: McpCall): Promise<FinishedAnswer> {
  if (server.relay === undefined) throw noMethod(false);
  const level = logLevelOf(params["level"]);
  if (level === undefined) throw invalidParams("level must be one of the levels of log messages.");
  // Without a session, two clients of one token could not be distinguished.
  if (session !== undefined) await states.change(session, owner, (state) => ({ ...state, level }));
  return { text: resultText(id, "{}") };
}

/** The updates go over the stream of the session, whichever node has it. */
async function subscribe({ id, method, params, server, states, session, owner }: McpCall): Promise<FinishedAnswer> {
  if (server.relay === undefined) throw noMethod(false);
  const { uri } = params;
  if (typeof uri !== "string" || uri.length > URI_CHARACTERS_MAX) throw invalidParams("uri must be an address.");
  if (session === undefined) throw invalidParams("Subscriptions to resources need a session.");
  const { door } = server;
  await states.change(session, owner, (state) => {
    const others = state.resources.filter((each) => each.uri !== uri || each.door !== door);
    if (method === "resources/unsubscribe") return { ...state, resources: others };
    if (others.length >= RESOURCES_MAX)
      throw invalidParams(`A session has at most ${RESOURCES_MAX} subscriptions to resources.`);
    return { ...state, resources: [...others, { door, uri }] };
  });
  return { text: resultText(id, "{}") };
}

async function callTool(call: McpCall): Promise<FinishedAnswer> {
  const { id, params, server, era, signal, outgoing } = call;
  const { name } = params;
  const given = params["arguments"] === undefined ? {} : objectOf(params["arguments"]);
  if (typeof name !== "string") throw invalidParams("name must be a text.");
  if (given === undefined) throw invalidParams("arguments must be an object.");
  const log = ClientLog.of(call);
  const answered = await server.callTool({
    name,
    arguments: given,
    takesTasks: era.stateless && takesTasks(era.capabilities),
    takesUrls: takesUrls(era) && params["inputResponses"] === undefined,
    signal,
    onProgress: reporterOf(params, outgoing),
    input: inputOf(call),
    log,
    trace: traceIn(params),
  });
  await log?.sent();
  if (answered === undefined) throw invalidParams("There is no such tool.");
  const { result, headers } = answered;
  const text = answerText(result, call);
  return { text: resultText(id, text), ...(headers && { headers }) };
}

function answerText(result: ToolAnswer["result"], { server, era }: McpCall): string {
  if ("task" in result) return begun(result.task, server);
  if ("asks" in result) {
    if (!era.stateless) throw urlRequired([result.asks]);
    return askedUser(result.asks, server);
  }
  if ("questions" in result) return relayedResult(result.questions, server, era.stateless);
  return called(result, server, era.stateless);
}

/** The caller's span, which a message of any revision may name. */
function traceIn(params: JsonObject): Record<string, string> {
  const meta = objectOf(params["_meta"]);
  if (meta?.["traceparent"] === undefined) return {};
  return traceHeaders({ get: (name) => (typeof meta[name] === "string" ? meta[name] : null) });
}

/** Undefined for a client that no server can ask. */
function inputOf({
  params: { inputResponses, requestState },
  era,
  ask,
  owner,
  session,
}: McpCall): ClientInput | undefined {
  const client = { owner, session };
  if (!era.stateless) {
    if (ask === undefined) return undefined;
    const { capabilities } = era;
    return { client, capabilities, takesQuestions: false, ask, responses: undefined, state: undefined };
  }
  const responses = inputResponses === undefined ? undefined : objectOf(inputResponses);
  if (inputResponses !== undefined && responses === undefined) throw invalidParams("inputResponses must be an object.");
  if (requestState !== undefined && typeof requestState !== "string")
    throw invalidParams("requestState must be a text.");
  const capabilities = askableOf(era.capabilities);
  return { client, capabilities, takesQuestions: true, responses, state: requestState };
}

/** Sends progress to a client that has asked for it. An update that is not further than the last one is none. */
function reporterOf(params: JsonObject, outgoing: Outgoing): ((progress: ToolProgress) => void) | undefined {
  const progressToken = objectOf(params["_meta"])?.["progressToken"];
  if (typeof progressToken !== "string" && typeof progressToken !== "number") return undefined;
  let last = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (progress.progress <= last) return;
    last = progress.progress;
    outgoing.notify(notificationText("notifications/progress", { progressToken, ...progress }));
  };
}

async function getTask(call: McpCall): Promise<FinishedAnswer> {
  const task = await call.server.getTask(taskIn(call));
  if (task === undefined) throw noTask();
  return { text: resultText(call.id, followed(task, call.server)) };
}

/** Answers to questions that a task has not asked are ignored. */
async function updateTask(call: McpCall): Promise<FinishedAnswer> {
  const asked = taskIn(call);
  const responses = objectOf(call.params["inputResponses"] ?? {});
  if (responses === undefined) throw invalidParams("inputResponses must be an object.");
  if (!(await call.server.updateTask(asked, responses))) throw noTask();
  return { text: resultText(call.id, acknowledged(call.server)) };
}

async function cancelTask(call: McpCall): Promise<FinishedAnswer> {
  if (!(await call.server.cancelTask(taskIn(call)))) throw noTask();
  return { text: resultText(call.id, acknowledged(call.server)) };
}

/** Throws -32021 for a client that knows no tasks. */
function taskIn({ params: { taskId }, era, signal }: McpCall): TaskRequest {
  requireTasks(era);
  if (typeof taskId !== "string") throw invalidParams("taskId must be a text.");
  return { id: taskId, capabilities: era.stateless ? askableOf(era.capabilities) : {}, signal };
}

function noTask(): RpcError {
  return invalidParams("There is no such task of yours.");
}

/** Throws -32021 if the client has not declared that it knows tasks. */
export function requireTasks(era: Era): void {
  if (era.stateless && takesTasks(era.capabilities)) return;
  throw new RpcError(rpcCodes.missingCapability, "The client must declare that it follows tasks.", {
    status: 400,
    data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  });
}
