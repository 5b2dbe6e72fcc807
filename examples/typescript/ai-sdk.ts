/** Vercel's AI SDK: a stream, over a model of any provider. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const tollgate = createOpenAICompatible({
  name: "tollgate",
  baseURL: `${TOLLGATE_URL}/v1`,
  apiKey: TOLLGATE_TOKEN,
  includeUsage: true,
});

const { textStream, usage } = streamText({ model: tollgate("anthropic/claude-haiku-4-5"), prompt: "Hello!" });
for await (const text of textStream) process.stdout.write(text);
const { inputTokens, outputTokens } = await usage;
console.log(`\n${inputTokens} tokens in, ${outputTokens} out`);
