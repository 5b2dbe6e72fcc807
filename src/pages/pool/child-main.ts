/** Entry point of the child processes: takes one document after the other apart, until its input ends. */
import { readSitemap } from "../sitemap/read-sitemap.ts";
import { takeApart } from "../take-apart.ts";
import { MessageReader, type PoolMessage } from "./frames.ts";
import { encodeFailure, encodePage, encodeSitemap, type Task } from "./tasks.ts";

/** Bytes of a document after which its garbage is collected at once, so that the child stays small while it waits. */
const largeBytesMin = 1024 * 1024;

// Libraries print warnings about broken documents. Standard output is for results only.
const silence = (): void => {};
Object.assign(console, { log: silence, info: silence, debug: silence, warn: silence, error: silence });

const output = Bun.stdout.writer();
const reader = new MessageReader();
for await (const piece of Bun.stdin.stream()) {
  for (const frame of reader.push(piece)) await answer(frame);
}

async function answer({ header, body }: PoolMessage): Promise<void> {
  for (const part of await perform(header as Task, body)) await output.write(part);
  await output.flush();
  if (body.length >= largeBytesMin) Bun.gc(true);
}

async function perform(task: Task, bytes: Uint8Array): Promise<Uint8Array[]> {
  try {
    if (task.name === "sitemap") return encodeSitemap(readSitemap(bytes, task.request));
    return encodePage(await takeApart(bytes, task.request));
  } catch (error) {
    return encodeFailure(error);
  }
}
