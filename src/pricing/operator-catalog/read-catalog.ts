import { readFile, stat } from "node:fs/promises";
import { type Fetch, limits } from "../../core/index.ts";
import { readBounded } from "../../streaming/index.ts";
import { catalogSchema, type PriceCatalog } from "../catalog/index.ts";

/** A catalog that cannot be used; the message is one line for the operator. */
class CatalogError extends Error {
  override name = "CatalogError";
}

/** Reads a catalog. Throws a `CatalogError` with the path of the first mistake. */
export function parseCatalog(text: string): PriceCatalog {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (reason) {
    throw new CatalogError(`it is no JSON: ${messageOf(reason)}`);
  }
  const parsed = catalogSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CatalogError(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid value"}`.replace(/^: /, ""));
}

/** Whether a location is an address and not a file. */
export function isAddress(location: string): boolean {
  return /^https?:\/\//.test(location);
}

/** A location as logs and prices name it: without the query of an address, which may contain a key. */
export function shownLocation(location: string): string {
  if (!isAddress(location)) return location;
  const { origin, pathname } = new URL(location);
  return origin + pathname;
}

/** Reads the text at a location. Throws a `CatalogError` if it cannot be read, is too long or takes too long. */
export async function readLocation(location: string, fetch: Fetch): Promise<string> {
  try {
    return isAddress(location) ? await readAddress(location, fetch) : await readPath(location);
  } catch (reason) {
    throw reason instanceof CatalogError ? reason : new CatalogError(`it cannot be read: ${messageOf(reason)}`);
  }
}

/** Redirects are refused: they could lead to a host that the operator did not name. */
async function readAddress(address: string, fetch: Fetch): Promise<string> {
  const response = await fetch(address, {
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(limits.priceCatalogMsMax),
    redirect: "manual",
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new CatalogError(`its address answered ${response.status}`);
  }
  const read = response.body === null ? undefined : await readBounded(response.body, limits.priceCatalogBytesMax);
  if (read !== undefined && "exceeded" in read) throw tooLong();
  return read === undefined ? "" : Buffer.from(read.bytes).toString("utf8");
}

async function readPath(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > limits.priceCatalogBytesMax) throw tooLong();
  return readFile(path, "utf8");
}

function tooLong(): CatalogError {
  return new CatalogError(`it is longer than ${limits.priceCatalogBytesMax} bytes`);
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
