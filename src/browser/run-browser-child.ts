import type { ChildOptions } from "./child/run-child.ts";

/** Runs the child process until its input ends. Playwright is loaded only here: it would cost the gateway 60 MB. */
export async function runBrowserChild(options: ChildOptions): Promise<void> {
  const { runChild } = await import("./child/run-child.ts");
  await runChild(options);
}
