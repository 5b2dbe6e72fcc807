/** Vercel's AI SDK with tools: it runs the loop by itself. @ai-sdk/openai and @ai-sdk/anthropic work the same way. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const anthropic = createAnthropic({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

const { text, steps } = await generateText({
  model: anthropic("anthropic/claude-haiku-4-5"),
  prompt: "What is the weather in Oslo?",
  maxOutputTokens: 1024,
  tools: {
    get_weather: tool({
      description: "The weather in a city",
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `18 degrees and sunny in ${city}`,
    }),
  },
  stopWhen: stepCountIs(5),
});
console.log(`${text} (${steps.length} steps)`);
