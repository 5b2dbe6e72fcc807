/** A gateway before an upstream of chat, whose calls cost one credit each, and a caller's batches there. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { Ledger, openLedgerStore } from "../../src/ledger/index.ts";
import {
  type Gateway,
  type GatewayOptions,
  letLeasesLapse,
  oneCreditACall,
  query,
  startGateway,
  until,
} from "../kit/index.ts";

export const chat = "/v1/chat/completions";

/** The lines of a file: one call each, whose question is its own id. */
export function linesOf(ids: readonly string[], model = "openai/m"): string {
  return ids
    .map((id) => {
      const body = { model, messages: [{ role: "user", content: id }], max_tokens: 10 };
      return `${JSON.stringify({ custom_id: id, method: "POST", url: chat, body })}\n`;
    })
    .join("");
}

export const idsUpTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `line-${index}`);

export function startBatchGateway(upstream: { url: string }, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  return startGateway({
    providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "unused", dialects: ["chat"] } },
    ...options,
    // The scripted upstream has no batches of its own.
    config: { ...oneCreditACall, upstream: { retries: 0 }, batches: { native: "off" }, ...options.config },
  });
}

export interface BatchClients {
  openai: OpenAI;
  anthropic: Anthropic;
  token: string;
}

export async function clientsOf(gateway: Gateway, request: Parameters<Gateway["token"]>[0]): Promise<BatchClients> {
  const token = await gateway.token(request);
  return {
    token,
    openai: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: token, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: gateway.url, apiKey: token, maxRetries: 0 }),
  };
}

export async function upload(openai: OpenAI, text: string | Uint8Array): Promise<string> {
  const { id } = await openai.files.create({ file: await toFile(Buffer.from(text), "in.jsonl"), purpose: "batch" });
  return id;
}

export async function begin(openai: OpenAI, text: string | Uint8Array, more: object = {}): Promise<OpenAI.Batch> {
  const input_file_id = await upload(openai, text);
  return openai.batches.create({ input_file_id, endpoint: chat, completion_window: "24h", ...more });
}

const last: ReadonlySet<string> = new Set(["completed", "failed", "expired", "cancelled"]);

export function ended(openai: OpenAI, id: string, msMax = 60_000): Promise<OpenAI.Batch> {
  return until(
    `the batch ${id} has ended`,
    async () => {
      const batch = await openai.batches.retrieve(id);
      return last.has(batch.status) && batch;
    },
    msMax,
  );
}

export interface ResultLine {
  custom_id: string;
  response: { status_code: number; body: Record<string, unknown> } | null;
  error: { code: string } | null;
}

export async function resultsOf(openai: OpenAI, fileId: string | null | undefined): Promise<ResultLine[]> {
  if (fileId === null || fileId === undefined) return [];
  const text = await (await openai.files.content(fileId)).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ResultLine);
}

/** An answer of the upstream's. */
export function answerTo(body: string): Response {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  const choices = [
    { index: 0, message: { role: "assistant", content: messages.at(-1)?.content }, finish_reason: "stop" },
  ];
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  return Response.json({ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices, usage });
}

/** A dead process's leases of the job and of holds run out. */
export async function letAllLapse({ storage }: Gateway): Promise<void> {
  await query(storage, "UPDATE jobs SET lease_until = 1 WHERE lease_until IS NOT NULL");
  await letLeasesLapse(storage);
  await new Ledger({ store: openLedgerStore(storage) }).submit({ kind: "sweep", at: Date.now() });
}
