import type { HelperProcess } from "./children.ts";

/** The benchmark's end of the control channel: one JSON line each way. See `http1/lines.ts` for the other end. */
export class Helper {
  readonly pid: number;
  readonly #child: HelperProcess;
  readonly #lines: AsyncGenerator<string>;

  constructor(child: HelperProcess) {
    this.pid = child.pid;
    this.#child = child;
    this.#lines = linesOf(child.stdout);
  }

  /** Sends a message and waits for its answer. */
  async ask<Answer>(message: unknown): Promise<Answer> {
    void this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    await this.#child.stdin.flush();
    return this.next<Answer>();
  }

  /** Waits for a line that comes by itself. Throws when the process has ended. */
  async next<Answer>(): Promise<Answer> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error("a process of the benchmark itself has ended");
    return JSON.parse(line.value) as Answer;
  }

  /** The other end goes at the end of its input. */
  async stop(): Promise<void> {
    await this.#child.stdin.end();
    await this.#child.exited;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
