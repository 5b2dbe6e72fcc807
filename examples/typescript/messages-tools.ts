/** The same loop by Anthropic's SDK. */
import Anthropic from "@anthropic-ai/sdk";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new Anthropic({ baseURL: TOLLGATE_URL, apiKey: TOLLGATE_TOKEN });

const getWeather = ({ city }: { city: string }) => `18 degrees and sunny in ${city}`;

const tools: Anthropic.Tool[] = [
  {
    name: "get_weather",
    description: "The weather in a city",
    input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];
const messages: Anthropic.MessageParam[] = [{ role: "user", content: "What is the weather in Oslo?" }];

for (;;) {
  const message = await client.messages.create({
    model: "anthropic/claude-haiku-4-5",
    max_tokens: 1024,
    messages,
    tools,
  });
  for (const block of message.content) if (block.type === "text") console.log(block.text);
  if (message.stop_reason !== "tool_use") break;

  const results = message.content
    .filter((block) => block.type === "tool_use")
    .map(({ id, name, input }) => {
      const result = getWeather(input as { city: string });
      console.log(`${name}(${JSON.stringify(input)}) -> ${result}`);
      return { type: "tool_result" as const, tool_use_id: id, content: result };
    });
  messages.push({ role: "assistant", content: message.content }, { role: "user", content: results });
}
