/** Reads the copyable blocks of docs/clients.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../kit/program.ts";

/** One block of code. */
interface Block {
  language: string;
  text: string;
  /** The file below the home directory that the sentence before it names. */
  file: string | undefined;
}

/** The blocks of one client, by its heading. */
export interface Section {
  client: string;
  blocks: readonly Block[];
}

const fenced = /(?:In `~\/([^`]+)`[^\n]*\n\n)?```(\w+)\n([^]*?)```/g;

export function readSections(): Section[] {
  const [, ...parts] = readFileSync(join(root, "docs/clients.md"), "utf8").split(/^## /m);
  return parts.map((part) => ({
    client: part.slice(0, part.indexOf("\n")),
    blocks: Array.from(part.matchAll(fenced), ([, file, language = "", text = ""]) => ({ language, text, file })),
  }));
}
