/** Compares two texts of one page by their lines. */
import { structuredPatch } from "diff";

/** Unchanged lines around each change, as git shows them. */
const CONTEXT_LINES = 3;

/** Lines that may differ, and the time for finding the shortest difference: it grows with their square. */
const CHANGED_LINES_MAX = 2_000;
const DIFF_MS_MAX = 2_000;

export interface CompareRequest {
  /** Of the older text, the first of the bytes. */
  previousBytes: number;
  /** Whether the changed lines are wanted. */
  wantsChunks: boolean;
}

/** A line of a chunk, with its number in each of the texts that have it. */
export type ChangedLine =
  | { type: "normal"; normal: true; ln1: number; ln2: number; content: string }
  | { type: "add"; add: true; ln: number; content: string }
  | { type: "del"; del: true; ln: number; content: string };

/** Changed lines with those around them; `content` is its first line in git's format. */
export interface DiffChunk {
  content: string;
  changes: ChangedLine[];
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
}

export interface TextComparison {
  /** The texts have the same lines, in whatever order and with whatever space. */
  isSame: boolean;
  /** Undefined if they are not wanted, or too many lines differ. */
  chunks?: DiffChunk[];
}

/** The bytes are both texts in UTF-8, the older one first. */
export function compareTexts(bytes: Uint8Array, { previousBytes, wantsChunks }: CompareRequest): TextComparison {
  const decoder = new TextDecoder();
  const previous = decoder.decode(bytes.subarray(0, previousBytes));
  const current = decoder.decode(bytes.subarray(previousBytes));
  if (sortedLines(previous) === sortedLines(current)) return { isSame: true };
  if (!wantsChunks) return { isSame: false };
  const bounds = { maxEditLength: CHANGED_LINES_MAX, timeout: DIFF_MS_MAX, context: CONTEXT_LINES };
  const patch = structuredPatch("", "", ended(previous), ended(current), undefined, undefined, bounds);
  return patch === undefined ? { isSame: false } : { isSame: false, chunks: patch.hunks.map(chunkOf) };
}

function sortedLines(text: string): string {
  const lines = text.split("\n").map((line) => line.replaceAll(/\s+/g, " ").trim());
  return lines
    .filter((line) => line !== "")
    .toSorted()
    .join("\n");
}

/** Whether a text ends with a line break is no difference. */
function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

type Hunk = Omit<DiffChunk, "content" | "changes"> & { lines: readonly string[] };

function chunkOf({ lines, oldStart, oldLines, newStart, newLines }: Hunk): DiffChunk {
  let [ln1, ln2] = [oldStart, newStart];
  const changes: ChangedLine[] = [];
  for (const content of lines) {
    if (content.startsWith("+")) changes.push({ type: "add", add: true, ln: ln2++, content });
    else if (content.startsWith("-")) changes.push({ type: "del", del: true, ln: ln1++, content });
    else changes.push({ type: "normal", normal: true, ln1: ln1++, ln2: ln2++, content });
  }
  const content = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
  return { content, changes, oldStart, oldLines, newStart, newLines };
}
