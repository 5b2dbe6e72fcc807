import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFilesIn } from "./processes.ts";

/** A folder for a gateway's temporary files: to be its `TMPDIR`. */
export interface SpoolFolder {
  path: string;
  /** Names that are left in it, at any depth. */
  files(): string[];
  /** Descriptors that a process has open on its files, including those without a name; zero without /proc. */
  openIn(pid: number): number;
  remove(): void;
}

export function newSpoolFolder(): SpoolFolder {
  const path = mkdtempSync(join(tmpdir(), "tollgate-spool-"));
  return {
    path,
    files: () => readdirSync(path, { recursive: true, encoding: "utf8" }),
    openIn: (pid) => openFilesIn(path, pid),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
