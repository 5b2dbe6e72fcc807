import { ApiError, send } from "./client.ts";
import type { Generation } from "./types.ts";

interface Listener {
  onCalls: (calls: readonly Generation[]) => void;
  /** Calls that the gateway has left out, since there were too many. */
  onLeftOut: (calls: number) => void;
  signal: AbortSignal;
}

/**
 * Calls while they end, until the stream ends or is aborted. Throws an `ApiError` if it is refused. The calls of one
 * network packet come together.
 */
export async function followCalls(address: string, { onCalls, onLeftOut, signal }: Listener): Promise<void> {
  const { body } = await send(address, { accept: "text/event-stream", signal });
  if (body === null) throw new ApiError({ status: 0, code: null, message: "The stream is empty.", requestId: null });
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of chunksOf(body)) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    const parsed = events.flatMap(parseEvent);
    const calls = parsed.flatMap((event) => (event.object === "generation" ? [event] : []));
    if (calls.length > 0) onCalls(calls);
    for (const event of parsed) if (event.object === "left_out") onLeftOut(event.calls);
  }
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

type StreamEvent = (Generation & { object: "generation" }) | { object: "left_out"; calls: number };

function parseEvent(text: string): StreamEvent[] {
  const data = /^data: (.*)$/m.exec(text)?.[1];
  return data === undefined ? [] : [JSON.parse(data) as StreamEvent];
}
