/** Anthropic's SDK: whole and streamed. Any chat model answers it, here Claude and then Grok. */
import Anthropic from "@anthropic-ai/sdk";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
// Here the address is without /v1.
const client = new Anthropic({ baseURL: TOLLGATE_URL, apiKey: TOLLGATE_TOKEN });

const message = await client.messages.create({
  model: "anthropic/claude-haiku-4-5",
  max_tokens: 1024,
  messages: [{ role: "user", content: "Hello!" }],
});
for (const block of message.content) if (block.type === "text") console.log(block.text);

const stream = client.messages
  .stream({ model: "xai/grok-4", max_tokens: 1024, messages: [{ role: "user", content: "Hello again!" }] })
  .on("text", (text) => process.stdout.write(text));
const { usage } = await stream.finalMessage();
console.log(`\n${usage.input_tokens} tokens in, ${usage.output_tokens} out`);
