import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect, JsonObject } from "../../src/core/index.ts";

/** The origin of a recording: a file of a repository, and its licence. */
interface Source {
  from: string;
  path: string;
  license: string;
}

/** A line of `index.jsonl`: an answer that an upstream gave. */
export interface Recording extends Source {
  id: number;
  /** Below this folder. */
  file: string;
  /** The provider's kind, or the preset of an OpenAI-compatible one. */
  upstream: string;
  host: string;
  dialect: Dialect;
  stream: boolean;
  status: number;
  /** The requested model, if the source contains it. */
  model: string | null;
}

/** A line of `requests.jsonl`: a request that an SDK or an agent sent. */
export interface RecordedRequest extends Source {
  /** Counted from 1, as editors count. */
  line: number;
  dialect: Dialect;
  host: string;
  body: JsonObject;
}

const folder = import.meta.dir;

const linesOf = (file: string): string[] => readFileSync(join(folder, file), "utf8").trimEnd().split("\n");

export const recordings: readonly Recording[] = linesOf("index.jsonl").map((line) => JSON.parse(line) as Recording);

export const requests: readonly RecordedRequest[] = linesOf("requests.jsonl").map((line, index) => ({
  ...(JSON.parse(line) as Omit<RecordedRequest, "line">),
  line: index + 1,
}));

export function bytesOf({ file }: Recording): Buffer {
  return readFileSync(join(folder, file));
}
