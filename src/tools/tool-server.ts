/** One server of tools: the lists that its callers see, and its calls. */
import {
  type CallSignal,
  GatewayError,
  type JsonObject,
  objectOf,
  objectsOf,
  stringOf,
  type Usage,
} from "../core/index.ts";
import { type ClientInput, RpcError, rpcCodes, type ServerLog, takesTasks } from "../mcp/index.ts";
import type { ModelPrice } from "../pricing/index.ts";
import { watchAsCaller } from "./changes/caller-watch.ts";
import { type ChangeListener, ServerWatch } from "./changes/server-watch.ts";
import { cleanObject, cleanText } from "./clean-result.ts";
import { headersOf } from "./header-members.ts";
import type { McpRequest } from "./client/session.ts";
import { ServerError } from "./client/server-answer.ts";
import {
  answeredBy,
  answersIn,
  askedClient,
  askerFor,
  isQuestion,
  mayAsk,
  refusalFor,
  ROUNDS_MAX,
} from "./relay/client-questions.ts";
import { shownResult } from "./icons.ts";
import { RecentMap } from "./recent-map.ts";
import { KnownResources } from "./relay/known-resources.ts";
import { isTask, readTask } from "./relay/server-tasks.ts";
import { repeatLost } from "./repeat-lost.ts";
import type { AccessTo, ServerAccess, ToolCaller } from "./server-access.ts";
import { ServerList, type ServerListOptions, type ServerTool } from "./server-list.ts";

/** Lists of users with credentials of their own that are remembered for a server. */
const LISTS_MAX = 1_000;
const RESOURCES_MAX = 100;

export interface ToolServerOptions extends ServerListOptions {
  accessOf: AccessTo;
  priceOf: (tool: string) => ModelPrice;
  /** Whether a result with `isError` costs as much as another one. */
  chargesErrors: (tool: string) => boolean;
  /** Whether a call may be sent again if its answer is lost. */
  isIdempotent: (tool: string) => boolean;
  timeoutMs: number;
  resultBytesMax: number;
  /** Whether it is started by requests. */
  isProgram?: boolean;
}

export interface ServerCall {
  /** By which the tool was found. */
  access: ServerAccess;
  tool: ServerTool;
  arguments: JsonObject;
  signal: CallSignal;
  onProgress: ((params: JsonObject) => void) | undefined;
  /** Undefined for a caller that no server can ask. */
  input: ClientInput | undefined;
  /** Undefined if the client wants no log messages. */
  log?: ServerLog | undefined;
  trace?: McpRequest["trace"];
  /** Whether the caller gets the server's refusal of the arguments as such, see `refusalIn`. */
  takesRefusals?: boolean;
  onSent: (isSent: boolean) => void;
}

/** A request for a method besides those for tools. */
interface ServerQuestion {
  method: string;
  params: JsonObject;
  signal: CallSignal;
  input: ClientInput | undefined;
  log?: ServerLog | undefined;
  trace?: McpRequest["trace"];
}

/** The tools that a caller finds at a server. */
export interface ServerTools {
  server: ToolServer;
  /** Undefined if the caller has no credentials for it. */
  access: ServerAccess | undefined;
  /** By their names; undefined if it has not listed them so far. */
  list: ReadonlyMap<string, ServerTool> | undefined;
  /** Why there is no list, if the caller can do something about it. */
  refusal: GatewayError | undefined;
}

export class ToolServer {
  readonly name: string;
  readonly priceOf: ToolServerOptions["priceOf"];
  readonly #options: ToolServerOptions;
  /** By the key of their access. */
  readonly #lists = new RecentMap<ServerList>(LISTS_MAX);
  readonly #watches = new Map<string, ServerWatch>();
  readonly #resources = new RecentMap<KnownResources>(RESOURCES_MAX);

  constructor(options: ToolServerOptions) {
    this.name = options.name;
    this.priceOf = options.priceOf;
    this.#options = options;
  }

  /** Calls back with the changes of the server. Resolves with a function that ends that. */
  watch(caller: ToolCaller, listener: ChangeListener): Promise<() => void> {
    const { accessOf, wait } = this.#options;
    return watchAsCaller({
      access: () => accessOf(caller),
      watchBy: (access) => this.#watchBy(access),
      listener,
      wait,
    });
  }

  #watchBy(access: ServerAccess): ServerWatch {
    const { key, source } = access.changes ?? { key: access.key, source: access.lists };
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const watch = new ServerWatch({
      source,
      list: this.#lists.use(access.key, () => new ServerList(this.#options, access)),
      wait: this.#options.wait,
      looks: this.#options.isProgram !== true,
      onIdle: () => this.#watches.delete(key),
    });
    this.#watches.set(key, watch);
    return watch;
  }

  /** The tools that the caller may be offered. A caller waits for the first list alone, and not for long. */
  async tools(caller: ToolCaller): Promise<ServerTools> {
    const access = await this.#options.accessOf(caller);
    if (access === undefined) return { server: this, access, list: undefined, refusal: undefined };
    const own = this.#lists.use(access.key, () => new ServerList(this.#options, access));
    const list = await own.tools();
    return { server: this, access, list, refusal: own.refusal };
  }

  /** The addresses of its resources that are known for the caller; undefined without credentials. */
  async resourcesFor(caller: ToolCaller): Promise<KnownResources | undefined> {
    const access = await this.#options.accessOf(caller);
    return access && this.#resources.use(access.key, () => new KnownResources(this.#options.clock));
  }

  /**
   * The result of a method that is no call of a tool, cleaned. It is free. Rejects with a `ServerError` for a refusal, or with a
   * `GatewayError`.
   */
  async ask(caller: ToolCaller, question: ServerQuestion): Promise<JsonObject> {
    const access = await this.#options.accessOf(caller);
    if (access === undefined)
      throw new ServerError(rpcCodes.invalidParams, `The server ${this.name} needs an account of yours.`);
    return this.askBy(access, question);
  }

  /** The same with a given access. */
  async askBy(
    access: ServerAccess,
    { method, params, signal, input, log, trace }: ServerQuestion,
  ): Promise<JsonObject> {
    const { timeoutMs, resultBytesMax, name } = this.#options;
    const { _meta: _, ...own } = params;
    const bounds = { timeoutMs, bytesMax: resultBytesMax, signal };
    const asked = { ...bounds, method, params: own, trace, ...reportedTo({ log }, access) };
    try {
      const result = await this.#inRounds(access, input, (given) =>
        access.calls.request({ ...asked, ...clientOf(access, given) }),
      );
      if (isQuestion(result) && !mayAsk(result, input))
        throw new ServerError(rpcCodes.invalidRequest, `The server ${name} asks for input that it cannot get here.`);
      return shownResult(cleanObject(result, access.secrets()));
    } catch (thrown) {
      if (!(thrown instanceof ServerError)) throw thrown;
      const error = cleaned(thrown, access.secrets());
      const refusal = refusalFor(error, input, access.secrets());
      if (refusal === undefined) throw error;
      if ("error" in refusal) throw refusal.error;
      return refusal.result;
    }
  }

  /** A client that takes no questions as a result answers them on the way. */
  async #inRounds(
    { secrets }: ServerAccess,
    input: ClientInput | undefined,
    ask: (input: ClientInput | undefined) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    let given = input;
    for (let round = 0; ; round += 1) {
      const result = await ask(given);
      const asker = askerFor(given, secrets);
      if (!isQuestion(result) || given === undefined || given.takesQuestions || asker === undefined) return result;
      if (!mayAsk(result, given) || round >= ROUNDS_MAX) return result;
      try {
        given = await answeredBy(result, given, asker);
      } catch (thrown) {
        if (!(thrown instanceof RpcError)) throw thrown;
        throw new ServerError(thrown.code, `The client has not answered: ${thrown.message}`);
      }
    }
  }

  /** The result of a call, cleaned, and its usage. Rejects with a `GatewayError` if there is none. */
  async call(call: ServerCall): Promise<ServerResult> {
    const { name, timeoutMs, isIdempotent, chargesErrors, clock, wait } = this.#options;
    const { access, tool, signal } = call;
    const repeat = { mayRepeat: isIdempotent(tool.name), timeoutMs, signal, clock, wait };
    const asked = { ...call, onProgress: repeat.mayRepeat ? increasing(call.onProgress) : call.onProgress };
    try {
      const result = await this.#inRounds(access, call.input, (input) =>
        repeatLost(repeat, (leftMs) => this.#ask({ ...asked, input }, leftMs)),
      );
      if (isQuestion(result)) {
        if (!call.input?.takesQuestions || !mayAsk(result, call.input))
          return this.#failed(`The server ${name} asks for input that it cannot get here.`);
        return { result: cleanObject(result, access.secrets()), usage: {} };
      }
      if (isTask(result)) return this.#begun(cleanObject(result, access.secrets()), call);
      if (!Array.isArray(result["content"])) {
        throw new GatewayError("upstream_invalid_answer", `The server ${name} answers with no result of a tool.`);
      }
      const { resultType: _type, ...own } = shownResult(cleanObject(result, access.secrets()));
      const isFree = own["isError"] === true && !chargesErrors(tool.name);
      return { result: own, usage: isFree ? {} : { toolCalls: 1 } };
    } catch (thrown) {
      if (!(thrown instanceof ServerError)) throw thrown;
      const error = cleaned(thrown, access.secrets());
      const refusal = refusalFor(error, call.input, access.secrets()) ?? invalidIn(error, call);
      if (refusal === undefined) return this.#failed(textOf(error));
      return { result: "error" in refusal ? refusedResult(refusal.error) : refusal.result, usage: {} };
    }
  }

  /** Its result is read later, and for nothing: the server has taken on the work. Throws 502 for one that the client could not follow. */
  #begun(task: JsonObject, { input }: ServerCall): ServerResult {
    if (!takesTasks(input?.capabilities ?? {}))
      throw new GatewayError(
        "upstream_invalid_answer",
        `The server ${this.name} answers with a task that nobody follows.`,
      );
    readTask(task);
    return { result: task, usage: { toolCalls: 1 } };
  }

  #ask(
    { access, tool, arguments: given, signal, onProgress, onSent, input, log, trace }: ServerCall,
    timeoutMs: number,
  ) {
    return access.calls.request({
      method: "tools/call",
      params: { name: tool.name, arguments: given },
      ...clientOf(access, input),
      timeoutMs,
      bytesMax: this.#options.resultBytesMax,
      signal,
      headers: headersOf(tool.headers, given),
      trace,
      ...reportedTo({ onProgress, log }, access),
      onSent,
    });
  }

  /** A refusal of the server, for the model to read. It is free. */
  #failed(text: string): ServerResult {
    return { result: { content: [{ type: "text", text }], isError: true }, usage: {} };
  }
}

export interface ServerResult {
  result: JsonObject;
  usage: Usage;
}

/** How the client of a call takes part in it. */
function clientOf(
  { secrets }: ServerAccess,
  input: ClientInput | undefined,
): Pick<McpRequest, "capabilities" | "answers" | "asked" | "prefersSession"> {
  return {
    capabilities: input?.capabilities,
    answers: answersIn(input),
    asked: askedClient(input, secrets),
    prefersSession: input?.takesQuestions === false,
  };
}

interface Reports {
  onProgress?: ServerCall["onProgress"];
  log?: ServerLog | undefined;
}

/** The notifications of a request, cleaned. */
function reportedTo(
  { onProgress, log }: Reports,
  { secrets }: ServerAccess,
): Pick<McpRequest, "onNotification" | "wantsProgress" | "log"> {
  if (onProgress === undefined && log === undefined) return {};
  return {
    log,
    wantsProgress: onProgress !== undefined,
    onNotification: (method, params) => {
      if (method === "notifications/progress") {
        const { progress, total, message } = params;
        onProgress?.({ progress, total, message: cleanText(stringOf(message), secrets()) || undefined });
      } else if (method === "notifications/message" && log !== undefined) {
        const { level, logger, data } = params;
        const named = logger === undefined ? {} : { logger: stringOf(logger) };
        log.send(cleanObject({ level, ...named, data }, secrets()));
      }
    },
  };
}

function cleaned({ code, message, data }: ServerError, secrets: readonly string[]): ServerError {
  return new ServerError(code, cleanText(message, secrets), data && cleanObject(data, secrets));
}

/** For a client that can't show addresses: its user opens them. */
function textOf({ code, message, data }: ServerError): string {
  const urls = code === rpcCodes.urlRequired ? objectsOf(data?.["elicitations"]).map(({ url }) => stringOf(url)) : [];
  return [message, ...urls.filter((url) => url !== "")].join(" ");
}

/** The server's refusal of the arguments, for a caller who takes it. */
function invalidIn(
  { code, message, data }: ServerError,
  { takesRefusals }: Pick<ServerCall, "takesRefusals">,
): { error: RpcError } | undefined {
  if (code !== rpcCodes.invalidParams || !takesRefusals) return undefined;
  return { error: new RpcError(code, message, data === undefined ? {} : { data }) };
}

const REFUSED = "refused";

/** An error for the client, as the answer of a call that is free. No server's result has this type. */
function refusedResult({ code, message, status, data }: RpcError): JsonObject {
  return { resultType: REFUSED, error: { code, message, status, data } };
}

/** The error for the client that an answer of a call is; undefined for a result. */
export function refusalIn({ resultType, error }: JsonObject): RpcError | undefined {
  if (resultType !== REFUSED) return undefined;
  const { code, message, status, data } = objectOf(error) ?? {};
  return new RpcError(Number(code), stringOf(message), {
    status: Number(status),
    ...(data !== undefined && { data: objectOf(data) ?? {} }),
  });
}

/** Another attempt begins again; clients want each progress to be more than the one before. */
function increasing(report: ServerCall["onProgress"]): ServerCall["onProgress"] {
  if (report === undefined) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  return (params) => {
    const { progress } = params;
    if (typeof progress !== "number" || progress <= last) return;
    last = progress;
    report(params);
  };
}
