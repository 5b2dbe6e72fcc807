/**
 * Server-sent events as a test reads them: a separate, plain reader, in which a mistake of the gateway's cannot hide.
 */

/** A chat chunk as far as the tests read it. */
export interface Chunk {
  choices: { delta?: { content?: unknown } }[];
  usage?: Usage | null;
  error?: { message: string; code: string | null };
}

/** Usage in the chat dialect. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  completion_tokens_details?: { reasoning_tokens?: number };
  cost_in_usd_ticks?: number;
}

/** The events of a stream, each with the blank line that ends it; bytes after the last one are a separate element. */
export function eventsOf(text: string): string[] {
  return text.split(/(?<=\n\r?\n)/);
}

/** The parsed chunks of a stream: comments, `[DONE]` and lines that are no JSON left out. */
export function chunksOf(text: string): Chunk[] {
  return eventsOf(text).flatMap((event) => chunkOf(event) ?? []);
}

/** Whether an event holds usage and nothing else. */
export function isUsageChunk(event: string): boolean {
  const chunk = chunkOf(event);
  return chunk?.choices?.length === 0 && chunk.usage !== undefined && chunk.usage !== null;
}

/**
 * Removes the usage from Google's stream; the stream of any other provider stays as it is. The upstream reports usage in every chunk,
 * the gateway once at the end (docs/dialects.md), so that only the remainder can be compared.
 */
export function comparable(provider: string, text: string): string {
  if (provider !== "google") return text;
  return text
    .split(/(?<=\n\n)/)
    .filter((event) => !isUsageChunk(event))
    .join("")
    .replace(/,"usage":\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "");
}

/** A stream as its client gets it: Google names the role in every chunk, which clients would join. */
export function withRoleOnce(text: string): string {
  const first = text.indexOf(ROLE) + ROLE.length;
  return text.slice(0, first) + text.slice(first).replaceAll(ROLE, "");
}

const ROLE = `"role":"assistant",`;

/** The generated text of a stream. */
export function contentOf(text: string): string {
  return chunksOf(text)
    .map((chunk) => chunk.choices?.[0]?.delta?.content)
    .filter((content) => typeof content === "string")
    .join("");
}

function chunkOf(event: string): Chunk | undefined {
  const data = /^data: ?(\{.*\})\r?$/m.exec(event)?.[1];
  try {
    return data === undefined ? undefined : (JSON.parse(data) as Chunk);
  } catch {
    return undefined;
  }
}

/** Reads a streamed answer event by event, as they arrive. */
export class EventReader {
  readonly #reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("the answer has no body");
    this.#reader = response.body.getReader();
  }

  /** The next event, or undefined at the end of the stream. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const [first, ...rest] = eventsOf(this.#text);
      if (first !== undefined && /\n\r?\n$/.test(first)) {
        this.#text = rest.join("");
        return first;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Everything that is still to come, as text. */
  async rest(): Promise<string> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return this.#text;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Hangs up. */
  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
