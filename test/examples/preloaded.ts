/** Python programs, run in forks of one process that has loaded the SDKs: that takes a second of CPU for each otherwise. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Run {
  file: string;
  cwd: string;
  environment: Readonly<Record<string, string>>;
}

export class PreloadedPython {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #codes: AsyncIterator<string, undefined>;
  readonly #folder = mkdtempSync(join(tmpdir(), "tollgate-python-"));

  constructor(python: string) {
    this.#child = Bun.spawn([python, join(import.meta.dir, "preloaded.py")], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#codes = linesOf(this.#child.stdout);
  }

  /** Runs a program to its end. One at a time. */
  async run(run: Run): Promise<{ code: number; stdout: string; stderr: string }> {
    const [stdout, stderr] = [join(this.#folder, "stdout"), join(this.#folder, "stderr")];
    await this.#child.stdin.write(`${JSON.stringify({ ...run, stdout, stderr })}\n`);
    await this.#child.stdin.flush();
    const ended = await this.#codes.next();
    if (ended.done === true) throw new Error("the process with the SDKs has ended");
    return { code: Number(ended.value), stdout: readFileSync(stdout, "utf8"), stderr: readFileSync(stderr, "utf8") };
  }

  async stop(): Promise<void> {
    await this.#child.stdin.end();
    await this.#child.exited;
    rmSync(this.#folder, { recursive: true });
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}
