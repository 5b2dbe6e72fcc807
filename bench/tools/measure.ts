/** Calls of tools through a gateway, beside the same straight to their server, and searches of many tools. */
import { join } from "node:path";
import { startGateway } from "../../test/kit/gateway.ts";
import { type Call, cpuOfCalls, mediansOf } from "../load/calls-in-turns.ts";
import { Children } from "../system/children.ts";
import { Helper } from "../system/helper.ts";
import { type ListenerFigures, measureListeners } from "./listeners.ts";
import { startLitellm } from "./litellm.ts";
import { headersOf, messageOf } from "./messages.ts";
import { measureToolSearch, type ToolSearchFigures } from "./search.ts";

export interface ToolsFigures {
  calls: ToolCallFigures;
  search: ToolSearchFigures;
  listeners: ListenerFigures;
  /** Why the figures don't count. */
  problem: string | null;
}

interface ToolCallFigures {
  /** Milliseconds that the gateway adds to the median of one caller. */
  addedHttpMs: number;
  addedStdioMs: number;
  /** CPU of the gateway, in microseconds a call. */
  callCpu: number;
  chatCpu: number;
  /** CPU of a list of 500 tools, and of a server that sends the same bytes. */
  listCpu: number;
  staticCpu: number;
  /** Of a call and a list of the official SDK's own handler. */
  sdkCallCpu: number;
  sdkListCpu: number;
  /** The same of LiteLLM's gateway before the same server; NaN if it can't be installed. */
  litellmCallCpu: number;
  litellmListCpu: number;
}

export interface ToolsPlan {
  /** Calls of each kind. */
  calls: number;
  /** Of each query. */
  searches: number;
}

/** So many calls of ours for one of LiteLLM, which takes many times longer. */
const CALLS_FOR_ONE = 20;

const program = join(import.meta.dirname, "main.ts");
const sdkProgram = join(import.meta.dirname, "sdk.ts");

export async function measureTools(plan: ToolsPlan, progress: (line: string) => void): Promise<ToolsFigures> {
  progress("tools: searches");
  const search = await measureToolSearch(plan.searches);
  const children = new Children();
  const helper = new Helper(children.startHelper([process.execPath, program]));
  const stdio = new Helper(children.startHelper([process.execPath, program, "stdio"]));
  const sdk = new Helper(children.startHelper([process.execPath, sdkProgram]));
  const [{ url }, { url: sdkUrl }] = [await helper.next<{ url: string }>(), await sdk.next<{ url: string }>()];
  // Another user may not be able to read the program.
  const command = { command: process.execPath, args: [program, "stdio"], user: String(process.getuid?.()) };
  const price = { call: 0.001 };
  const gateway = await startGateway({
    providers: { openai: { kind: "openai", base_url: `${url}/v1`, api_key: "bench" } },
    config: { mcp: { servers: { http: { url: `${url}/mcp`, price }, stdio: { ...command, price } } } },
  });
  try {
    progress("tools: streams of changes");
    // First: memory that calls have left free would hide that of streams.
    const listeners = await measureListeners(gateway);
    progress("tools: calls");
    const client = new Client(await gateway.token({ user: "bench" }));
    const sides = {
      gateway: { url: gateway.url, pid: gateway.process.pid },
      server: { url, pid: helper.pid },
      sdk: { url: sdkUrl, pid: sdk.pid },
      stdio,
    };
    const own = await measureCalls(client, sides, plan.calls);
    progress("tools: LiteLLM");
    const calls = { ...own, ...(await measureLitellm(children, `${url}/mcp`, plan.calls / CALLS_FOR_ONE)) };
    return { calls, search, listeners, problem: client.failures > 0 ? `${client.failures} calls failed` : null };
  } finally {
    await gateway.stop();
    await Promise.all([helper.stop(), sdk.stop(), stdio.stop()]);
  }
}

interface Sides {
  gateway: { url: string; pid: number };
  server: { url: string; pid: number };
  sdk: { url: string; pid: number };
  stdio: Helper;
}

async function measureLitellm(children: Children, server: string, calls: number) {
  const litellm = await startLitellm(children, server);
  if (litellm === undefined) return { litellmCallCpu: Number.NaN, litellmListCpu: Number.NaN };
  const { pid, ask } = litellm;
  try {
    return {
      litellmCallCpu: await cpuOfCalls(pid, () => ask("tools/call"), calls),
      litellmListCpu: await cpuOfCalls(pid, () => ask("tools/list"), calls),
    };
  } finally {
    await litellm.stop();
  }
}

async function measureCalls(client: Client, { gateway, server, sdk, stdio }: Sides, calls: number) {
  const overHttp: Call = () => client.ask(`${gateway.url}/mcp/http`, "tools/call");
  const overStdio: Call = () => client.ask(`${gateway.url}/mcp/stdio`, "tools/call");
  const straightHttp: Call = () => client.ask(`${server.url}/mcp`, "tools/call");
  const straightStdio: Call = async () => void (await stdio.ask(messageOf("tools/call")));
  return {
    addedHttpMs: await addedBy({ through: overHttp, straight: straightHttp }, calls),
    addedStdioMs: await addedBy({ through: overStdio, straight: straightStdio }, calls),
    callCpu: await cpuOfCalls(gateway.pid, overHttp, calls),
    chatCpu: await cpuOfCalls(gateway.pid, () => client.chat(gateway.url), calls),
    listCpu: await cpuOfCalls(gateway.pid, () => client.ask(`${gateway.url}/mcp/http`, "tools/list"), calls),
    staticCpu: await cpuOfCalls(server.pid, () => client.get(`${server.url}/static`), calls),
    sdkCallCpu: await cpuOfCalls(sdk.pid, () => client.ask(`${sdk.url}/mcp`, "tools/call"), calls),
    sdkListCpu: await cpuOfCalls(sdk.pid, () => client.ask(`${sdk.url}/mcp`, "tools/list"), calls),
  };
}

/** The difference of the medians, in milliseconds. */
async function addedBy(sides: Record<"through" | "straight", Call>, calls: number): Promise<number> {
  const medians = await mediansOf(sides, calls);
  return medians.through - medians.straight;
}

/** One caller, who waits for each answer. */
class Client {
  failures = 0;
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async ask(url: string, method: string): Promise<void> {
    const answer = await this.#send(url, messageOf(method), headersOf(this.#token, method));
    if (!answer.includes('"result"') || answer.includes('"isError":true')) this.failures += 1;
  }

  async chat(url: string): Promise<void> {
    const body = { model: "openai/bench-model", messages: [{ role: "user", content: "Hello!" }] };
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    if (!(await this.#send(`${url}/v1/chat/completions`, body, headers)).includes("Hello.")) this.failures += 1;
  }

  async get(url: string): Promise<void> {
    await (await fetch(url)).arrayBuffer();
  }

  async #send(url: string, body: object, headers: Readonly<Record<string, string>>): Promise<string> {
    return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).text();
  }
}
