/** A gateway whose search engine, pages and model are written by the test: the model knows chat alone, and no tool of its own. */
import { afterAll, beforeAll } from "bun:test";
import type { JsonObject } from "../../src/core/index.ts";
import {
  type Caller,
  type Gateway,
  post,
  type Rig,
  type ScriptedUpstream,
  startGateway,
  startRig,
  startScriptedUpstream,
} from "../kit/index.ts";

/** A call of a function by the model. */
interface ModelCall {
  name: string;
  args: JsonObject | string;
}

/** One answer of the model. */
export interface ModelAnswer {
  text?: string;
  thought?: string;
  calls?: readonly ModelCall[];
  finish?: string;
  /** Of a refusal: it has nothing else. */
  status?: number;
}

/** The body that the model got. */
export interface ModelRequest {
  messages: { role: string; content: string | null; tool_calls?: { function: { name: string } }[] }[];
  tools?: { function: { name: string } }[];
  tool_choice?: unknown;
  stream?: boolean;
  [member: string]: unknown;
}

interface FoundPage {
  path: string;
  title: string;
  content: string;
  /** The page itself, as HTML; the description alone by default. */
  html?: string;
}

export interface HostedScene {
  rig: Rig;
  caller: Caller;
  model: ScriptedUpstream;
  /** The requests that the model got since its answers were set. */
  asked: ModelRequest[];
  /** Of each of them, the provider that it was sent to. */
  askedAt: string[];
  /** The queries that the search engine got. */
  queries: string[];
  /** The paths of pages that were read. */
  read: string[];
  /** The address of a page. */
  url: (path: string) => string;
  /** Sets the model's answers, one for each round; the last one is repeated. */
  answers: (
    ...list: readonly (ModelAnswer | ((request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>))[]
  ) => void;
  /** Sets the pages of the web. */
  finds: (...pages: readonly FoundPage[]) => void;
  /** The requests that the model for images, `pictures/gpt-image-1`, got since the model's answers were set. */
  drawn: { path: string; body: string }[];
  /** Its answer. */
  painter: { answer: () => Response | Promise<Response> };
  /** Called before the engine answers. */
  engine: { before: () => Promise<void> | void; answer?: (() => Response) | undefined };
  post: (path: string, body: object, headers?: Record<string, string>) => Promise<Response>;
  /** Kills the gateway, and starts another one on its storage. */
  restart: () => Promise<Gateway>;
}

/** The chat model's id; `spare/model` is another one, with the same answers. */
export const model = "plain/model";

interface SceneOptions {
  /** The storage of its gateway; by default a file of its own. */
  storage?: () => Promise<{ storage?: string }>;
  /** Further private hosts, with their ports, that the gateway may reach. */
  privateHosts?: () => string[];
}

/** `config`: further settings; a function is called before the gateway starts. */
export function hostedScene(config: object | (() => object) = {}, options: SceneOptions = {}): () => HostedScene {
  let scene: HostedScene | undefined;
  let close: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const settings = typeof config === "function" ? (config as () => object)() : config;
    const hosts = options.privateHosts?.() ?? [];
    const started = await startScene(settings, hosts, (await options.storage?.()) ?? {});
    scene = started.scene;
    close = started.close;
  });
  afterAll(() => close?.());
  return () => {
    if (scene === undefined) throw new Error("the scene has not started");
    return scene;
  };
}

async function startScene(
  config: object,
  privateHosts: readonly string[],
  storage: { storage?: string },
): Promise<{ scene: HostedScene; close: () => Promise<void> }> {
  let pages: readonly FoundPage[] = [];
  const [queries, read, asked, askedAt]: [string[], string[], ModelRequest[], string[]] = [[], [], [], []];
  const drawn: HostedScene["drawn"] = [];
  const painter: HostedScene["painter"] = { answer: () => Response.json(picture) };
  const engine: HostedScene["engine"] = { before: () => undefined };
  const web = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, searchParams, origin } = new URL(request.url);
      if (pathname === "/search") {
        await engine.before();
        if (engine.answer !== undefined) return engine.answer();
        queries.push(searchParams.get("q") ?? new URLSearchParams(await request.text()).get("q") ?? "");
        const results = pages.map(({ path, title, content }) => ({ url: origin + path, title, content }));
        return Response.json({ results, unresponsive_engines: [] });
      }
      if (pathname === "/robots.txt") return new Response("", { status: 404 });
      read.push(pathname + new URL(request.url).search);
      const page = pages.find(({ path }) => path === pathname);
      if (page === undefined) return new Response("", { status: 404 });
      const html = page.html ?? `<p>${page.content}</p>`;
      return new Response(`<html><head><title>${page.title}</title></head><body><main>${html}</main></body></html>`, {
        headers: { "content-type": "text/html" },
      });
    },
  });
  const origin = `http://127.0.0.1:${web.port}`;
  const upstream = await Promise.resolve(startScriptedUpstream());
  const providerAt = (path: string) => ({ kind: "openai-compatible", base_url: upstream.url + path, api_key: "k" });
  const pictures = { ...providerAt("/pictures"), kind: "openai" };
  const providers = { plain: providerAt(""), spare: providerAt("/spare"), pictures };
  const whole = {
    web: {
      search: { backend: "searxng", base_url: origin },
      allow_private_hosts: [`127.0.0.1:${web.port}`, ...privateHosts],
    },
    ...config,
  };
  const rig = await startRig({ providers: () => providers, config: whole, ...storage });
  const killed: Gateway[] = [];
  const caller = await rig.caller();
  const scene: HostedScene = {
    rig,
    caller,
    model: upstream,
    asked,
    askedAt,
    queries,
    read,
    engine,
    drawn,
    painter,
    url: (path) => origin + path,
    answers(...list) {
      asked.length = 0;
      askedAt.length = 0;
      queries.length = 0;
      read.length = 0;
      drawn.length = 0;
      upstream.answerWith(async ({ body, path }) => {
        if (path.startsWith("/pictures/images/")) {
          drawn.push({ path, body });
          return painter.answer();
        }
        const request = JSON.parse(body) as ModelRequest;
        asked.push(request);
        askedAt.push(path.startsWith("/spare") ? "spare" : "plain");
        const next = list[Math.min(asked.length, list.length) - 1] ?? {};
        const answer = typeof next === "function" ? await next(request) : next;
        if (answer.status !== undefined) return refusal(answer.status);
        return request.stream === true ? streamed(answer) : wholeAnswer(answer);
      });
    },
    finds(...next) {
      pages = next;
    },
    async restart() {
      const last = killed.at(-1) ?? rig.gateway;
      last.process.kill("SIGKILL");
      await last.process.exited;
      const next = await startGateway({ providers, config: whole, folder: last.folder, ...storage });
      killed.push(next);
      return next;
    },
    post: (path, body, headers = {}) => post(rig, path, caller.token, { model, ...body }, { headers }),
  };
  const close = async (): Promise<void> => {
    await killed.at(-1)?.stop({ keepFolder: true });
    await rig.stop();
    await upstream.stop();
    await web.stop(true);
  };
  return { scene, close };
}

/** 200 tokens in, 1,000 out. */
const picture = {
  created: 1,
  size: "1024x1024",
  quality: "low",
  output_format: "png",
  data: [{ b64_json: "iVBORw0KGgo=", revised_prompt: "a red cat" }],
  usage: { input_tokens: 200, output_tokens: 1_000, total_tokens: 1_200 },
};

/** Ten tokens in, five out. */
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

let calls = 0;

function callsOf({ calls: list = [] }: ModelAnswer) {
  return list.map(({ name, args }) => {
    calls += 1;
    const text = typeof args === "string" ? args : JSON.stringify(args);
    return { id: `call_${calls}`, type: "function", function: { name, arguments: text } };
  });
}

function finishOf({ finish, calls: list = [] }: ModelAnswer): string {
  return finish ?? (list.length > 0 ? "tool_calls" : "stop");
}

function wholeAnswer(answer: ModelAnswer): Response {
  const called = callsOf(answer);
  const message = {
    role: "assistant",
    content: answer.text ?? null,
    ...(answer.thought !== undefined && { reasoning_content: answer.thought }),
    ...(called.length > 0 && { tool_calls: called }),
  };
  const choices = [{ index: 0, message, finish_reason: finishOf(answer) }];
  return Response.json({ id: "c", object: "chat.completion", created: 1, model: "model", choices, usage });
}

function refusal(status: number): Response {
  return Response.json({ error: { message: "busy", type: "server_error" } }, { status });
}

/** The text in pieces of three characters. */
function streamed(answer: ModelAnswer): Response {
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "model", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const pieces = (answer.text ?? "").match(/[^]{1,3}/g) ?? [];
  const body = [
    chunk({ role: "assistant", content: "" }),
    ...(answer.thought === undefined ? [] : [chunk({ reasoning_content: answer.thought })]),
    ...pieces.map((content) => chunk({ content })),
    ...callsOf(answer).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, finishOf(answer)),
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "model", choices: [], usage })}\n\n`,
    "data: [DONE]\n\n",
  ].join("");
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
