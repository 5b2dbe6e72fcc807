/** A whole tool loop by OpenAI's SDK: the model calls, we run the function, the model answers with its result. */
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

const getWeather = ({ city }: { city: string }) => `18 degrees and sunny in ${city}`;

const tools: OpenAI.Chat.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather in a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];
const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "What is the weather in Oslo?" }];

for (;;) {
  const completion = await client.chat.completions.create({ model: "openai/gpt-5-mini", messages, tools });
  const message = completion.choices[0]?.message;
  if (!message?.tool_calls) {
    console.log(message?.content);
    break;
  }
  messages.push(message);
  for (const call of message.tool_calls) {
    if (call.type !== "function") continue;
    const result = getWeather(JSON.parse(call.function.arguments) as { city: string });
    console.log(`${call.function.name}(${call.function.arguments}) -> ${result}`);
    messages.push({ role: "tool", tool_call_id: call.id, content: result });
  }
}
