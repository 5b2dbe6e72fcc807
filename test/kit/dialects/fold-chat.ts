import { objectOf } from "../../../src/core/index.ts";

type Json = Record<string, unknown>;

/** The parsed data of the events of a stream; `[DONE]` unchanged. */
export function dataOfStream(text: string): unknown[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice(6))
        .join("\n");
      return data === "[DONE]" ? data : (JSON.parse(data) as unknown);
    });
}

/** A client's sum of the chunks of a chat stream, as in the SDKs: the whole completion. */
export function foldChat(text: string): Json {
  const choices: Json[] = [];
  const whole: Json = { choices };
  for (const chunk of dataOfStream(text)) {
    if (chunk === "[DONE]") continue;
    const { choices: told, usage, object: _, ...identity } = chunk as Json;
    Object.assign(whole, identity, usage === undefined || usage === null ? {} : { usage });
    for (const choice of told as Json[]) addChoice(choices, choice);
  }
  for (const choice of choices) finishMessage(choice["message"] as Json);
  return { ...whole, object: "chat.completion" };
}

function addChoice(choices: Json[], told: Json): void {
  const index = told["index"] as number;
  const choice = (choices[index] ??= { index, message: {}, logprobs: null, finish_reason: null });
  const message = choice["message"] as Json;
  for (const [key, value] of Object.entries(told["delta"] as Json)) addMember(message, key, value);
  if (told["finish_reason"] !== null) choice["finish_reason"] = told["finish_reason"];
  const probs = objectOf(told["logprobs"]);
  if (probs === undefined) return;
  const before = objectOf(choice["logprobs"])?.["content"] ?? [];
  choice["logprobs"] = { content: [...(before as unknown[]), ...(probs["content"] as unknown[])], refusal: null };
}

function addMember(message: Json, key: string, value: unknown): void {
  const before = message[key];
  if (key === "tool_calls") message[key] = addCalls((before ?? []) as Json[], value as Json[]);
  else if (Array.isArray(value)) message[key] = [...((before ?? []) as unknown[]), ...(value as unknown[])];
  else if (key !== "role" && typeof before === "string" && typeof value === "string") message[key] = before + value;
  else message[key] = value;
}

interface Said {
  name?: string;
  arguments?: string;
}

function addCalls(calls: Json[], fragments: readonly Json[]): Json[] {
  for (const { index, ...fragment } of fragments) {
    const call = (calls[index as number] ??= {});
    const { function: said, ...rest } = fragment;
    Object.assign(call, rest);
    const before = (call["function"] ?? {}) as Said;
    const more = said as Said;
    call["function"] = { ...before, ...more, arguments: (before.arguments ?? "") + (more.arguments ?? "") };
  }
  return calls;
}

/** An empty string in a stream corresponds to null in a whole message. */
function finishMessage(message: Json): void {
  if (message["content"] === "") message["content"] = null;
}
