/** Hosted tools that tools of the configuration's servers run: each call is paid work of its own, as any call of that tool. */
import type { PaidRequest } from "../../charges/index.ts";
import { GatewayError, type JsonObject, type Nano, parseObject } from "../../core/index.ts";
import type { AskedTool, ConfiguredTool, ImageTool, SearchTool, WebTool } from "../requests/asked-tools.ts";
import {
  type ArgumentForm,
  argumentForm,
  argumentsOfCalls,
  type ConfiguredAction,
} from "../requests/configured-tools.ts";
import { fenced } from "./fence.ts";
import { endsLoop } from "./part-of-loop.ts";
import {
  type Finders,
  type ServerSearcher,
  findServer,
  type FoundTool,
  resultOf,
  type ServedBy,
} from "./served-tools.ts";
import {
  type CodeOutput,
  codeOutputOf,
  FILE_WRITTEN,
  type FoundPassage,
  passagesIn,
  ResultRoom,
  textOfOutput,
} from "./tool-output.ts";
import { failedOutcome, type ToolErrorCode, type ToolOutcome } from "./tool-outcome.ts";

/** The tool of a server that runs a function of a hosted tool. */
export interface FoundConfigured {
  action: ConfiguredAction;
  served: FoundTool;
  form: ArgumentForm;
}

/** With the tools that run it. */
export interface ReadyConfigured extends ConfiguredTool {
  found: readonly FoundConfigured[];
}

const never = (): boolean => false;

/** A tool of a request that the gateway runs, with all that it is run by. */
export type ReadyTool = WebTool | SearchTool | ReadyConfigured | ImageTool;

/** Rejects as `findServer` does, and with a 502 for a tool that its server does not have, or that can't run the function. */
export async function readyTool(
  finders: Finders,
  tool: AskedTool,
  finding: Omit<ServerSearcher, "canAsk">,
): Promise<ReadyTool> {
  if (!("configured" in tool)) return tool;
  const found = await Promise.all(
    tool.configured.map(async ({ action, name }): Promise<FoundConfigured> => {
      const [server = ""] = name.split("__", 1);
      const asked = { label: server, index: tool.index, permits: () => true, needsApproval: never, isDeferred: never };
      const place = { name: server };
      const { tools } = await findServer(finders, { ...asked, place }, { ...finding, canAsk: true, only: name });
      const [served] = tools;
      if (served === undefined) throw unusable(tool, name, "its server does not offer it");
      const form = argumentForm(action, served.parameters);
      if (form === undefined) throw unusable(tool, name, `it has no property for the arguments of ${action}`);
      return { action, served, form };
    }),
  );
  return { ...tool, found };
}

function unusable({ type }: ConfiguredTool, name: string, why: string): GatewayError {
  const message = `tools: ${type} is run by ${name} here, but ${why}.`;
  return new GatewayError("upstream_unreachable", message, { param: "tools" });
}

interface ConfiguredUse {
  found: FoundConfigured;
  tool: ConfiguredTool;
  arguments: string;
  requestOf: (body: JsonObject) => PaidRequest;
  /** Counts the cost of a call before the next one, which may not exceed what a limit leaves. */
  paid: (cost: Nano) => void;
  /** Marks the result. */
  nonce: string;
}

/** Rejects as `useTool` does, unless a call of the tool has been paid. The outcome itself costs nothing more. */
export async function callConfigured(by: ServedBy, use: ConfiguredUse): Promise<ToolOutcome> {
  const { found, tool, arguments: text, requestOf } = use;
  const input = parseObject(text);
  const calls = input && argumentsOfCalls(found.action, found.form, { input, settings: tool.value });
  if (input === undefined || calls === undefined) return failedOutcome("invalid_input", input ?? {});
  const reader = found.action === "file_search" ? new SearchReader(use) : new RunReader(input["command"]);
  for (const [index, each] of calls.entries()) {
    try {
      const answered = await resultOf(by, found.served, { input: each, request: requestOf(each) });
      use.paid(answered.cost);
      reader.add(answered.result);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || (endsLoop.has(thrown.code) && index === 0)) throw thrown;
      if (index === 0) return failedOutcome(errorOf(thrown), input, { message: thrown.message });
      reader.add({ content: [{ type: "text", text: thrown.message }], isError: true });
      break;
    }
  }
  const { read } = reader;
  return { input, error: undefined, pages: [], cost: 0n, counts: false, ...read, text: fenced(read.text, use.nonce) };
}

type Read = Pick<ToolOutcome, "outputs" | "passages" | "text" | "keptCharacters">;

/** Keeps what is shown of the results of one use, of each as soon as it is there. */
interface ResultReader {
  add: (result: JsonObject) => void;
  read: Read;
}

class RunReader implements ResultReader {
  readonly #room = new ResultRoom();
  readonly #outputs: CodeOutput[] = [];

  readonly #command: unknown;

  constructor(command: unknown) {
    this.#command = command;
  }

  add(result: JsonObject): void {
    this.#outputs.push(codeOutputOf(result, this.#room));
  }

  get read(): Read {
    const outputs = this.#outputs;
    const isWritten = this.#command === "create" && outputs.every(({ exitCode }) => exitCode === 0);
    const text = isWritten ? FILE_WRITTEN : outputs.map(textOfOutput).join("\n\n");
    return { outputs, text, keptCharacters: outputs.reduce((sum, output) => sum + sizeOf(output), 0) };
  }
}

function sizeOf({ stdout, stderr, images }: CodeOutput): number {
  return images.reduce((sum, image) => sum + image.length, stdout.length + stderr.length);
}

class SearchReader implements ResultReader {
  readonly #room = new ResultRoom();
  readonly #passages: FoundPassage[] = [];
  readonly #most: unknown;
  readonly #name: string;

  constructor({ found, tool }: Pick<ConfiguredUse, "found" | "tool">) {
    this.#most = tool.value["max_num_results"];
    this.#name = found.served.name;
  }

  add(result: JsonObject): void {
    this.#passages.push(...passagesIn(result, this.#name, this.#room));
  }

  get read(): Read {
    const most = this.#most;
    const passages = typeof most === "number" && most > 0 ? this.#passages.slice(0, most) : this.#passages;
    const texts = passages.map(({ filename, text }) => `${filename}\n${text}`);
    const text = texts.length === 0 ? "Nothing was found." : texts.join("\n\n");
    return { passages, text, keptCharacters: text.length };
  }
}

function errorOf({ code, status }: GatewayError): ToolErrorCode {
  if (code === "upstream_timeout") return "execution_time_exceeded";
  return status === 429 ? "too_many_requests" : status === 422 ? "invalid_input" : "unavailable";
}
