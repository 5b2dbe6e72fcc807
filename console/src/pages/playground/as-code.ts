/** A call of the playground as a program. */

export const languages = { curl: "curl", openai: "OpenAI SDK", anthropic: "Anthropic SDK" } as const;

export type Language = keyof typeof languages;

interface Chat {
  model?: unknown;
  messages?: readonly { role: string; content: unknown }[];
  max_completion_tokens?: unknown;
  tools?: readonly { function?: { name?: unknown; description?: unknown; parameters?: unknown } }[];
}

const shown = (value: unknown): string => JSON.stringify(value, null, 2);

/** The call of `body`, a body of Chat Completions, in a language. */
export function asCode(language: Language, body: Record<string, unknown>, origin: string): string {
  if (language === "curl") return curlOf(body, origin);
  if (language === "openai") {
    return `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${origin}/v1",
  apiKey: process.env.TOLLGATE_TOKEN,
});
const answer = await client.chat.completions.create(${shown(body)});
console.log(answer.choices[0].message);`;
  }
  return `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: "${origin}",
  apiKey: process.env.TOLLGATE_TOKEN,
});
const answer = await client.messages.create(${shown(messagesBody(body))});
console.log(answer.content);`;
}

function curlOf(body: Record<string, unknown>, origin: string): string {
  // An apostrophe ends the quoted text of a shell.
  const text = shown(body)
    .replaceAll("'", String.raw`'\''`)
    .replaceAll("\n", "\n  ");
  return `curl "${origin}/v1/chat/completions" \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${text}'`;
}

/** The same call as a body of Messages. Pictures and results of tools are shown in their shape of Messages too. */
function messagesBody({ model, messages = [], max_completion_tokens: tokens, tools = [] }: Chat): object {
  const system = messages.find(({ role }) => role === "system")?.content;
  const own = tools.map(({ function: { name, description, parameters } = {} }) => ({
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters ?? { type: "object" },
  }));
  return {
    model,
    max_tokens: tokens,
    ...(system !== undefined && { system }),
    messages: messages.filter(({ role }) => role !== "system").map(messageOf),
    ...(own.length > 0 && { tools: own }),
  };
}

type Message = Readonly<Record<string, unknown>> & { role: string; content: unknown };

function messageOf(message: Message): object {
  const { role, content } = message;
  if (role === "tool") {
    return { role: "user", content: [{ type: "tool_result", tool_use_id: message["tool_call_id"], content }] };
  }
  if (Array.isArray(content)) return { role, content: content.map(partOf) };
  const calls = (message["tool_calls"] ?? []) as { id: string; function: { name: string; arguments: string } }[];
  if (calls.length === 0) return { role, content };
  const uses = calls.map(({ id, function: { name, arguments: text } }) => ({
    type: "tool_use",
    id,
    name,
    input: JSON.parse(text === "" ? "{}" : text) as unknown,
  }));
  return { role, content: [...(content === "" ? [] : [{ type: "text", text: content }]), ...uses] };
}

function partOf(part: { type?: string; image_url?: { url: string } }): object {
  if (part.image_url === undefined) return part;
  const [, media_type, data] = /^data:([^;]+);base64,(.*)$/s.exec(part.image_url.url) ?? [];
  const source = data === undefined ? { type: "url", url: part.image_url.url } : { type: "base64", media_type, data };
  return { type: "image", source };
}
