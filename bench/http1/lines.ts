/**
 * The control channel between the benchmark and its own two processes (upstream and load generator): JSON lines over
 * stdin and stdout. End of file on stdin means that the benchmark has ended, and the process must end as well.
 */
export async function serveLines(answer: (message: unknown) => unknown): Promise<never> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of Bun.stdin.stream()) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) sayLine(await answer(JSON.parse(line)));
  }
  process.exit(0);
}

export function sayLine(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
