/** Exports of a million calls and entries: their time, and the memory that they take. */
import { randomBytes } from "node:crypto";
import { createAccounts } from "../../src/app/accounts.ts";
import { createStorageApi } from "../../src/app/admin-api.ts";
import type { Storage } from "../../src/storage/index.ts";

export interface ExportFigure {
  title: string;
  rows: number;
  seconds: number;
  /** Bytes of the process beyond those before. */
  memory: number;
}

const ROWS_MAX = 1_000_000;

/** How often the memory is looked at. */
const CHUNKS = 50;

/** Exports the latest rows, up to a million of them, in each way; the calls are those of a user who made every second one. */
export async function measureExports(
  storage: Storage,
  { calls, from, to, user }: { calls: number; from: number; to: number; user: string },
): Promise<ExportFigure[]> {
  const environment = { clock: Date.now, randomBytes: (size: number) => randomBytes(size) };
  const api = createStorageApi(storage, createAccounts(storage, environment, "bench"));
  const since = (rows: number): string => {
    const begin = new Date(to - (to - from) * Math.min(1, rows / calls));
    return `from=${begin.toISOString()}&to=${new Date(to).toISOString()}`;
  };
  const figures: ExportFigure[] = [];
  for (const title of ["generations as csv", "generations as jsonl", "entries as csv", "usage as focus"]) {
    const [what, format] = title.split(" as ");
    const rest = what === "generations" ? `${since(2 * ROWS_MAX)}&user=${user}` : since(ROWS_MAX);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    const began = performance.now();
    const answer = await api(new Request(`http://bench/admin/v1/exports?what=${what}&format=${format}&${rest}`));
    if (!answer.ok || answer.body === null) throw new Error(`${title}: ${answer.status}`);
    let [rows, chunks, memory] = [0, 0, 0];
    for await (const chunk of answer.body) {
      for (const byte of chunk) if (byte === 10) rows += 1;
      chunks += 1;
      if (chunks % CHUNKS === 0) memory = Math.max(memory, process.memoryUsage.rss() - before);
    }
    figures.push({ title, rows, seconds: (performance.now() - began) / 1_000, memory });
  }
  return figures;
}
