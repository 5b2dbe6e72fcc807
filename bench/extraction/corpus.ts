import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import type { PageType } from "../../src/pages/index.ts";

/** A page of the corpus with what its readers would call its content. */
export interface KnownPage {
  readonly id: string;
  readonly url: string;
  readonly type: PageType;
  readonly content: string;
}

/** Beside the checkout; `TOLLGATE_WEB_BENCH` names another place. */
export const corpusFolder = process.env["TOLLGATE_WEB_BENCH"] ?? resolve(import.meta.dir, "../../../shared/web-bench");

export function hasCorpus(): boolean {
  return existsSync(join(corpusFolder, "ground-truth.jsonl.gz"));
}

export function readCorpus(): KnownPage[] {
  const lines = unzip("ground-truth.jsonl.gz").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as KnownPage);
}

export function readPage({ id }: KnownPage): string {
  return unzip(`dev/${id}.html.gz`);
}

function unzip(path: string): string {
  return gunzipSync(readFileSync(join(corpusFolder, path))).toString("utf8");
}
