/**
 * The files of `console/dist`, which `npm run generate` builds. They are read when they are asked for, and not kept: a browser keeps the
 * assets itself, for good.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { z } from "zod";

/** The codings in which each file exists, by the ends of their names. The page and the list of scripts exist as they are, too. */
const endings = { br: ".br", gzip: ".gz" } as const;

export type Coding = keyof typeof endings;

const decompress = promisify(gunzip);

const folder = new URL("../../../console/dist/", import.meta.url);

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The name of an asset contains the hash of its content. No other path is looked for. */
const assetName = /^assets\/[\w-]+-([\da-z]{8,})\.(js|css|svg)$/;

/** The type and version of an asset, by its path below `/console/`; undefined if it is none. */
export function assetOf(path: string): { type: string; etag: string } | undefined {
  const [, hash, extension = ""] = assetName.exec(path) ?? [];
  const type = types[extension];
  return hash === undefined || type === undefined ? undefined : { type, etag: `"${hash}"` };
}

/** The bytes of a file below `console/dist`; undefined if there is none. */
export async function consoleFile(
  path: string,
  coding: Coding | undefined,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // Hardly any client takes no coding: an asset is not kept as it is.
  const stored = coding ?? (assetOf(path) === undefined ? undefined : "gzip");
  const name = stored === undefined ? path : `${path}${endings[stored]}`;
  try {
    const bytes = await readFile(new URL(name, folder));
    return Uint8Array.from(stored === coding ? bytes : await decompress(bytes));
  } catch (reason) {
    if (reason instanceof Error && "code" in reason && reason.code === "ENOENT") return undefined;
    throw reason;
  }
}

/** Of the page, which has no hash in its name. */
export async function pageTag(): Promise<string | undefined> {
  const bytes = await consoleFile("index.html", undefined);
  if (bytes === undefined) return undefined;
  return `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
}

/** Scripts by page, as the build writes them. */
const preloads = z.record(z.string(), z.array(z.string()));

/** The scripts that a page loads. Of a path that is no page there are none. */
export async function scriptsOf(page: string): Promise<readonly string[]> {
  const bytes = await consoleFile("preloads.json", undefined);
  const known = bytes === undefined ? {} : preloads.parse(JSON.parse(new TextDecoder().decode(bytes)));
  const [first = "", ...below] = page.split("/");
  const key = below.length === 0 ? first : `${first}/*`;
  return Object.hasOwn(known, key) ? (known[key] ?? []) : [];
}
