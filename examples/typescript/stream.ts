/** A chat, printed as it is being written. */
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

const stream = await client.chat.completions.create({
  model: "openai/gpt-5-mini",
  messages: [{ role: "user", content: "Hello!" }],
  stream: true,
  stream_options: { include_usage: true },
});
for await (const { choices, usage } of stream) {
  process.stdout.write(choices[0]?.delta.content ?? "");
  // Only the last chunk has it.
  if (usage) console.log(`\n${usage.prompt_tokens} tokens in, ${usage.completion_tokens} out`);
}
