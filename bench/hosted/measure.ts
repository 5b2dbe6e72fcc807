/** Rounds of tools that the gateway runs, beside plain chat calls. */
import { join } from "node:path";
import { startGateway } from "../../test/kit/gateway.ts";
import { type Call, cpuOfCalls, mediansOf } from "../load/calls-in-turns.ts";
import { Samples } from "../load/samples.ts";
import { Children } from "../system/children.ts";
import { Helper } from "../system/helper.ts";

export interface HostedFigures {
  rounds: RoundFigures[];
  /** Milliseconds by which the first content of the last round is later than that of a chat call's stream. */
  addedFirstMs: number;
  /** Why the figures don't count. */
  problem: string | null;
}

interface RoundFigures {
  title: string;
  /** Milliseconds that a round takes beyond the model, at the median, and CPU of the gateway, in microseconds. */
  addedMs: number;
  cpu: number;
  /** The same of a plain call of the same API, with the same functions and no search among them. */
  plainMs: number;
  plainCpu: number;
}

const ROUNDS = 5;

/** Of which the search has to find some. */
const DEFERRED = 50;

const model = "openai/bench-model";

/** A tool that takes no time of its own: the gateway refuses the page, and searches few tools. */
const kinds = [
  {
    title: "web_search, a page that may not be opened",
    path: "/v1/chat/completions",
    call: 'open_page {"url":"ADDRESS"}',
    plain: {},
    body: { tools: [{ type: "web_search" }] },
  },
  {
    title: `tool_search among ${DEFERRED} deferred tools`,
    path: "/v1/responses",
    call: 'tool_search {"query":"record 7"}',
    plain: { store: false, tools: Array.from({ length: DEFERRED }, (_each, index) => toolNamed(index)) },
    body: {
      store: false,
      tools: [
        { type: "tool_search" },
        ...Array.from({ length: DEFERRED }, (_each, index) => ({ ...toolNamed(index), defer_loading: true })),
      ],
    },
  },
] as const;

function toolNamed(index: number): object {
  const parameters = { type: "object", properties: { id: { type: "string", description: "The id of the record" } } };
  return { type: "function", name: `get_record_${index}`, description: "Reads a record", parameters };
}

/** `calls`: of each kind. */
export async function measureHosted(calls: number, progress: (line: string) => void): Promise<HostedFigures> {
  const helper = new Helper(new Children().startHelper([process.execPath, join(import.meta.dirname, "main.ts")]));
  const { url } = await helper.next<{ url: string }>();
  const gateway = await startGateway({
    providers: { openai: { kind: "openai-compatible", base_url: `${url}/v1`, api_key: "bench" } },
    // It is not asked.
    config: { web: { search: { backend: "searxng", base_url: url } } },
  });
  try {
    const { pid } = gateway.process;
    const client = new Client({ gateway: gateway.url, token: await gateway.token({ user: "bench" }) });
    const rounds: RoundFigures[] = [];
    for (const kind of kinds) {
      progress(`hosted: ${kind.title}`);
      const straight: Call = () => client.chat(url);
      const plain: Call = () => client.plain(kind);
      const loop: Call = () => client.loop(kind);
      const p50 = await mediansOf({ straight, plain, loop }, calls);
      const [addedMs, plainMs] = [p50.loop / ROUNDS - p50.straight, p50.plain - p50.straight];
      const [cpu, plainCpu] = [(await cpuOfCalls(pid, loop, calls)) / ROUNDS, await cpuOfCalls(pid, plain, calls)];
      rounds.push({ title: kind.title, addedMs, cpu, plainMs, plainCpu });
    }
    progress("hosted: streams");
    const addedFirstMs = await addedFirst(client, calls);
    return { rounds, addedFirstMs, problem: client.failures > 0 ? `${client.failures} calls failed` : null };
  } finally {
    await gateway.stop();
    await helper.stop();
  }
}

/** From the writing of a content to its arrival, of the last round of a loop and of a plain stream, in turns. */
async function addedFirst(client: Client, calls: number): Promise<number> {
  const [plain, last] = [new Samples(), new Samples()];
  for (let index = -calls / 3; index < calls; index += 1) {
    for (const [samples, isLoop] of [
      [plain, false],
      [last, true],
    ] as const) {
      const taken = await client.firstContent(isLoop);
      if (index >= 0) samples.add(taken);
    }
  }
  return (last.spread()?.p50 ?? Number.NaN) - (plain.spread()?.p50 ?? Number.NaN);
}

/** One caller, who waits for each answer. */
class Client {
  failures = 0;
  readonly #gateway: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ gateway, token }: { gateway: string; token: string }) {
    this.#gateway = gateway;
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  async chat(url: string): Promise<void> {
    await this.#ask(`${url}/v1/chat/completions`, said("/v1/chat/completions", "Hello!"));
  }

  async plain({ path, plain }: (typeof kinds)[number]): Promise<void> {
    await this.#ask(this.#gateway + path, { ...plain, ...said(path, "Hello!") });
  }

  async loop({ path, call, body }: (typeof kinds)[number]): Promise<void> {
    await this.#ask(this.#gateway + path, { ...body, ...said(path, `calls:${ROUNDS - 1} ${call}`) });
  }

  async #ask(url: string, body: object): Promise<void> {
    const answer = await this.#send(url, body);
    if (!(await answer.text()).includes("Hello.")) this.failures += 1;
  }

  /** Milliseconds from the writing of the content. */
  async firstContent(isLoop: boolean): Promise<number> {
    const [kind] = kinds;
    const content = isLoop ? `calls:${ROUNDS - 1} ${kind.call}` : "Hello!";
    const body = { ...(isLoop && kind.body), stream: true, messages: [{ role: "user", content }] };
    const answer = await this.#send(`${this.#gateway}/v1/chat/completions`, body);
    let [text, at] = ["", Number.NaN];
    const decoder = new TextDecoder();
    for await (const bytes of answer.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(bytes, { stream: true });
      if (Number.isNaN(at) && text.includes('"content":"1')) at = performance.timeOrigin + performance.now();
    }
    const written = /"content":"(1[\d.]+)"/.exec(text)?.[1];
    if (written === undefined) this.failures += 1;
    return at - Number(written);
  }

  #send(url: string, body: object): Promise<Response> {
    return fetch(url, { method: "POST", headers: this.#headers, body: JSON.stringify({ model, ...body }) });
  }
}

function said(path: (typeof kinds)[number]["path"], content: string): object {
  return path === "/v1/responses" ? { input: content } : { messages: [{ role: "user", content }] };
}
