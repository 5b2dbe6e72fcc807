/** A gateway with the built-in catalogue, and an upstream that reports the usage of the case that is asked. */
import { z } from "zod";
import { startGateway, stopGateways } from "../../../test/kit/index.ts";
import type { ChargeCase } from "./charge-cases.ts";

/** LiteLLM's providers as entries of a configuration: `provider` is the prefix of the models here. */
export interface ComparedProvider {
  provider: string;
  entry: object;
}

const compatible = (preset: string): object => ({ kind: "openai-compatible", preset });

/** By LiteLLM's name of the provider. */
export const comparedProviders: Readonly<Record<string, ComparedProvider>> = {
  openai: { provider: "openai", entry: { kind: "openai" } },
  "text-completion-openai": { provider: "openai", entry: { kind: "openai" } },
  anthropic: { provider: "anthropic", entry: { kind: "anthropic" } },
  gemini: { provider: "google", entry: { kind: "google" } },
  xai: { provider: "x-ai", entry: { kind: "xai" } },
  deepseek: { provider: "deepseek", entry: compatible("deepseek") },
  mistral: { provider: "mistral", entry: compatible("mistral") },
  groq: { provider: "groq", entry: compatible("groq") },
  moonshot: { provider: "moonshotai", entry: compatible("moonshot") },
  perplexity: { provider: "perplexity", entry: compatible("perplexity") },
};

/** The usage of a case in the words of each dialect. */
function usageOf(path: string, asked: ChargeCase): object {
  const { input, cached, written, writtenLong, output, reasoning, audio } = asked;
  const writes = written + writtenLong;
  if (path.endsWith("/messages")) {
    return {
      input_tokens: input - cached - writes,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: writes,
      cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenLong },
      output_tokens: output,
    };
  }
  const details = { cached_tokens: cached, audio_tokens: audio, ...(writes > 0 && { cache_write_tokens: writes }) };
  const lifetimes = { cache_write_tokens_details: { ttl_12h_tokens: writtenLong } };
  const counts = { total_tokens: input + output };
  if (path.endsWith("/responses")) {
    const read = writes > 0 ? { ...details, ...lifetimes } : details;
    const answered = { output_tokens: output, output_tokens_details: { reasoning_tokens: reasoning } };
    return { ...counts, input_tokens: input, input_tokens_details: read, ...answered };
  }
  return {
    ...counts,
    prompt_tokens: input,
    prompt_tokens_details: details,
    completion_tokens: output,
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

const text = { type: "text", text: "Hi." };

function answerOf(path: string, asked: ChargeCase): object {
  const usage = usageOf(path, asked);
  const tier = asked.tier === undefined ? {} : { service_tier: asked.tier };
  if (path.endsWith("/messages")) {
    const end = { stop_reason: "end_turn", stop_sequence: null };
    return { id: "msg_1", type: "message", role: "assistant", model: "m", content: [text], ...end, usage };
  }
  if (path.endsWith("/responses")) {
    return { id: "resp_1", object: "response", status: "completed", model: "m", output: [], usage, ...tier };
  }
  if (path.endsWith("/embeddings")) {
    return { object: "list", model: "m", data: [{ object: "embedding", index: 0, embedding: [0.1] }], usage };
  }
  const choice = { index: 0, text: "Hi.", message: { role: "assistant", content: "Hi." }, finish_reason: "stop" };
  return { id: "c", object: "chat.completion", model: "m", choices: [choice], usage, ...tier };
}

const paths: Readonly<Record<string, string>> = {
  responses: "/v1/responses",
  embedding: "/v1/embeddings",
  completion: "/v1/completions",
};

/** The operation with which a model of this mode is asked; undefined for one whose usage is no tokens of text. */
export function pathFor(provider: string, mode: string): string | undefined {
  if (provider === "anthropic") return "/v1/messages";
  if (mode === "chat") return "/v1/chat/completions";
  return paths[mode];
}

function requestOf(path: string, model: string, { input, tier, writtenLong }: ChargeCase): object {
  // The gateway takes a count for none that is more than twice what the request allows.
  const hi = input > 100_000 ? "hi ".repeat(Math.ceil(input / 6)) : "hi";
  const messages = [{ role: "user", content: hi }];
  const asked = { model, ...(tier !== undefined && { service_tier: tier }) };
  if (path.endsWith("/messages")) return { ...asked, max_tokens: 200, messages };
  if (path.endsWith("/responses")) return { ...asked, max_output_tokens: 200, store: false, input: hi };
  if (path.endsWith("/embeddings")) return { ...asked, input: hi };
  if (path.endsWith("/completions") && !path.includes("chat")) return { ...asked, prompt: hi, max_tokens: 200 };
  // An answer of chat does not contain the lifetimes of its writes.
  const cache = writtenLong > 0 ? { prompt_cache_options: { ttl: "12h" } } : {};
  return { ...asked, ...cache, messages, max_tokens: 200 };
}

const shownModels = z.object({ data: z.array(z.object({ id: z.string(), pricing: z.unknown() })) });

/** The charge in credits, or the refusal. */
type Charged = { credits: number } | { refused: string };

export interface ComparisonScene {
  charge(path: string, model: string, asked: ChargeCase): Promise<Charged>;
  /** The prices that `/v1/models` shows. */
  shown(): Promise<Map<string, unknown>>;
  stop(): Promise<void>;
}

/** `names`: the models that the upstream lists, by provider. */
export async function startComparison(names: ReadonlyMap<string, readonly string[]>): Promise<ComparisonScene> {
  let asked: ChargeCase | undefined;
  const upstream = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url, method }) {
      const { pathname } = new URL(url);
      if (method === "GET") return Response.json(listing(names.get(pathname.split("/")[1] ?? "") ?? []));
      return asked === undefined ? new Response("", { status: 500 }) : Response.json(answerOf(pathname, asked));
    },
  });
  const entries = Object.values(comparedProviders).map(({ provider, entry }) => {
    return [provider, { ...entry, base_url: `http://127.0.0.1:${upstream.port}/${provider}`, api_key: "unused" }];
  });
  const providers = Object.fromEntries(entries) as Record<string, object>;
  const gateway = await startGateway({ providers, config: { pricing: {} } });
  const token = await gateway.token({ user: "prices", credits: 1_000_000_000_000_000n });
  const authorization = `Bearer ${token}`;
  return {
    async charge(path, model, one) {
      asked = one;
      const answer = await fetch(gateway.url + path, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify(requestOf(path, model, one)),
      });
      const body = await answer.text();
      const credits = answer.headers.get("x-tollgate-credits");
      if (!answer.ok || credits === null) return { refused: `${answer.status} ${body.slice(0, 200)}` };
      return { credits: Number(credits) };
    },
    async shown() {
      const answer = await fetch(`${gateway.url}/v1/models`, { headers: { authorization } });
      const { data } = shownModels.parse(await answer.json());
      return new Map(data.map(({ id, pricing }) => [id, pricing]));
    },
    async stop() {
      await stopGateways();
      await upstream.stop(true);
    },
  };
}

/** The members that each provider's list has, together. */
function listing(names: readonly string[]): object {
  const data = names.map((id) => ({ id, object: "model", type: "model", display_name: id, created: 1, created_at: 1 }));
  const models = names.map((id) => ({ id, name: `models/${id}`, supportedGenerationMethods: ["generateContent"] }));
  return { object: "list", data, models, has_more: false };
}
