/** Entry point of the child processes: takes one document after the other apart, until its input ends. Its argument is the id of a user. */
import { type Frame, FrameReader } from "../../streaming/index.ts";
import { becomeUser, endWithParent } from "../../core/index.ts";
import { loadReaders, othersCanRead } from "../load-readers.ts";
import { readSitemap } from "../sitemap/read-sitemap.ts";
import { takeApart } from "../take-apart.ts";
import {
  encodeBeginning,
  encodeComparison,
  encodeFailure,
  encodePage,
  encodePictures,
  encodeSitemap,
  encodeVerdicts,
  messageBounds,
  type Task,
} from "./tasks.ts";

/** Bytes of a document after which its garbage is collected at once, so that the child stays small while it waits. */
const largeBytesMin = 1024 * 1024;

// Libraries print warnings about broken documents. Standard output is for results only.
const silence = (): void => {};
Object.assign(console, { log: silence, info: silence, debug: silence, warn: silence, error: silence });

const [userId] = process.argv.slice(2);
if (userId !== undefined) await becomeUserIfPossible(Number(userId));
endWithParent();

const output = Bun.stdout.writer();
const waiting: Frame[] = [];
const reader = new FrameReader(messageBounds, (frame) => waiting.push(frame));
for await (const piece of Bun.stdin.stream()) {
  reader.push(piece);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await answer(next);
}

/** Root in a container may lack the right to change its user. It has not the rights of the machine's root then. */
async function becomeUserIfPossible(id: number): Promise<void> {
  if (!othersCanRead()) await loadReaders();
  try {
    becomeUser(id);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "EPERM" && code !== "EINVAL") throw thrown;
  }
}

async function answer({ text, parts: [bytes = new Uint8Array()] }: Frame): Promise<void> {
  for (const part of encodeBeginning()) await output.write(part);
  await output.flush();
  for (const part of await perform(JSON.parse(text) as Task, bytes)) await output.write(part);
  await output.flush();
  if (bytes.length >= largeBytesMin) Bun.gc(true);
}

async function perform(task: Task, bytes: Uint8Array): Promise<Uint8Array[]> {
  const before = process.cpuUsage();
  try {
    if (task.name === "patterns") {
      const { matchPatterns } = await import("./match-patterns.ts");
      return encodeVerdicts(matchPatterns(bytes, task.request));
    }
    if (task.name === "changes") {
      const { compareTexts } = await import("../changes/compare-texts.ts");
      return encodeComparison(compareTexts(bytes, task.request));
    }
    if (task.name === "pictures") {
      const { drawPages } = await import("../documents/pdf/draw-pages.ts");
      return encodePictures(await drawPages(bytes, task.request.pages));
    }
    if (task.name === "sitemap") return encodeSitemap(await readSitemap(bytes, task.request));
    return encodePage(await takeApart(bytes, task.request));
  } catch (error) {
    const { user, system } = process.cpuUsage(before);
    return encodeFailure(error, Math.round((user + system) / 1_000));
  }
}
