import { send } from "../../api/client.ts";
import { eventsOf } from "../../api/events.ts";
import type { ToolCall } from "./conversation.ts";

export interface Answer {
  text: string;
  toolCalls: readonly ToolCall[];
  /** Milliseconds until the first text or call of a tool. */
  firstMs: number | undefined;
  requestId: string | null;
}

interface Delta {
  content?: string | null;
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

interface Chunk {
  choices?: { delta?: Delta }[];
  error?: { message?: string };
}

/** Adds the parts of one event to an answer. */
export function withDelta<Kind extends Pick<Answer, "text" | "toolCalls">>(
  answer: Kind,
  { content, tool_calls: parts = [] }: Delta,
): Kind {
  const toolCalls = [...answer.toolCalls];
  for (const { index, id, function: own } of parts) {
    const before = toolCalls[index] ?? { id: "", name: "", arguments: "" };
    toolCalls[index] = {
      id: id ?? before.id,
      name: own?.name ?? before.name,
      arguments: before.arguments + (own?.arguments ?? ""),
    };
  }
  return { ...answer, text: answer.text + (content ?? ""), toolCalls };
}

/** Makes a streamed call, and shows the answer while it grows. Throws an `ApiError`, or the error of the stream. */
export async function streamChat(body: object, show: (answer: Answer) => void, signal: AbortSignal): Promise<Answer> {
  const begun = performance.now();
  const sent = { ...body, stream: true };
  const response = await send("/v1/chat/completions", {
    method: "POST",
    body: sent,
    accept: "text/event-stream",
    signal,
  });
  let answer: Answer = {
    text: "",
    toolCalls: [],
    firstMs: undefined,
    requestId: response.headers.get("x-request-id"),
  };
  for await (const data of eventsOf(response)) {
    if (data === "[DONE]") break;
    const { choices = [], error } = JSON.parse(data) as Chunk;
    if (error !== undefined) throw new Error(error.message ?? "The stream has ended with an error.");
    const delta = choices[0]?.delta;
    if (delta === undefined) continue;
    const next = withDelta(answer, delta);
    const isFirst = answer.firstMs === undefined && (next.text !== "" || next.toolCalls.length > 0);
    answer = isFirst ? { ...next, firstMs: performance.now() - begun } : next;
    show(answer);
  }
  return answer;
}
