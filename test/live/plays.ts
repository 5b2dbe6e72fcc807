/** The requests to every model, in every dialect. Real models answer in their own words, so only the shape is judged. */
import { chatDriver } from "../dialects/matrix/chat-driver.ts";
import type { Access, Ask, ClientResult, Driver } from "../dialects/matrix/driver.ts";
import { messagesDriver } from "../dialects/matrix/messages-driver.ts";
import { responsesDriver } from "../dialects/matrix/responses-driver.ts";

export const drivers: Readonly<Record<string, (access: Access) => Driver>> = {
  chat: chatDriver,
  messages: messagesDriver,
  responses: responsesDriver,
};

type Tell = (ask: Omit<Ask, "model">) => Promise<ClientResult>;

function require(holds: boolean, what: string, told: ClientResult): void {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(told)}`);
}

function requireText(told: ClientResult): void {
  require(told.text.trim() !== "", "there is no text", told);
  require(told.calls.length === 0, "tools are called", told);
  requireUsage(told);
}

function requireUsage(told: ClientResult): void {
  require(told.usage.input > 0 && told.usage.output > 0, "there is no usage", told);
}

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** Bounds the cost of an answer; thoughts need more than a word. */
const TOKENS_MAX = 2_048;

export const plays: Readonly<Record<string, (tell: Tell) => Promise<void>>> = {
  async plain(tell) {
    requireText(await tell({ text: "Reply with the word hello and nothing else.", tokensMax: TOKENS_MAX }));
  },
  async streamed(tell) {
    requireText(await tell({ text: "Count from one to ten in words.", stream: true, tokensMax: TOKENS_MAX }));
  },
  async tools(tell) {
    await callTool(tell, false);
  },
  async "tools, streamed"(tell) {
    await callTool(tell, true);
  },
  async "structured output"(tell) {
    const told = await tell({
      text: "The capital of France, as JSON with the member city.",
      schema,
      tokensMax: TOKENS_MAX,
    });
    const { city } = JSON.parse(told.text) as { city?: unknown };
    require(typeof city === "string", "there is no city", told);
  },
};

async function callTool(tell: Tell, stream: boolean): Promise<void> {
  const text = "What is the weather in Paris for the next 2 days? Use the tool.";
  const called = await tell({ text, stream, tools: 1, tokensMax: TOKENS_MAX });
  require(called.calls.length > 0 && called.stop === "tools", "no tool is called", called);
  for (const call of called.calls) JSON.parse(call.arguments);
  requireUsage(called);
  const told = await called.reply(called.calls.map(() => "18 degrees and sunny"));
  require(told.text.trim() !== "" || told.calls.length > 0, "nothing is made of the result", told);
  requireUsage(told);
}
