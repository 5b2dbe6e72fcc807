/** Prints the cost of one streamed call, and of all calls of the last 30 days. */
import OpenAI from "openai";

interface Generation {
  model: string;
  input_tokens: number;
  output_tokens: number;
  credits: number;
}
interface UsageRow {
  model?: string;
  requests: number;
  credits: number;
}

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

const { data: stream, request_id } = await client.chat.completions
  .create({ model: "openai/gpt-5-mini", messages: [{ role: "user", content: "Hello!" }], stream: true })
  .withResponse();
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? "");

const { model, input_tokens, output_tokens, credits }: Generation = await client.get(`/generations/${request_id}`);
console.log(`\n${model}: ${input_tokens} tokens in, ${output_tokens} out, ${credits.toFixed(9)} credits`);

const usage: { data: UsageRow[]; total: UsageRow } = await client.get("/usage?group_by=model");
for (const row of [...usage.data, usage.total]) {
  console.log(`${row.model ?? "all"}: ${row.requests} requests, ${row.credits.toFixed(9)} credits`);
}
