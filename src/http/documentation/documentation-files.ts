/** The files below `documentation/`, which `npm run generate` writes: read, and compressed, when they are first asked for. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

export interface DocumentationFile {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer>;
  /** Of its content. */
  etag: string;
}

const folder = new URL("../../../documentation/", import.meta.url);

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
};

/** A page, such as `clients` or `api/chat`; or one of their assets, with its extension. No other path is looked for. */
const pagePath = /^(?:api\/)?[a-z][a-z-]*$/;
const assetPath = /^assets\/[a-z]+\.(css|js|json)$/;

/** Those that exist, as long as the process runs. */
const known = new Map<string, Promise<DocumentationFile>>();

/** The file behind a path below `/docs/`; undefined if there is none. */
export async function documentationFile(path: string): Promise<DocumentationFile | undefined> {
  const extension = pagePath.test(path) ? "html" : assetPath.exec(path)?.[1];
  if (extension === undefined) return undefined;
  const name = extension === "html" ? `${path}.html` : path;
  const found = known.get(name) ?? read(name, types[extension] ?? "");
  known.set(name, found);
  try {
    return await found;
  } catch (reason) {
    known.delete(name);
    if (reason instanceof Error && "code" in reason && reason.code === "ENOENT") return undefined;
    throw reason;
  }
}

const compress = promisify(gzip);

async function read(name: string, type: string): Promise<DocumentationFile> {
  const bytes = Uint8Array.from(await readFile(new URL(name, folder)));
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { type, bytes, gzipped: Uint8Array.from(await compress(bytes)), etag };
}
