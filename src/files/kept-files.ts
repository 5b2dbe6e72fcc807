/**
 * Files with the purpose `batch` are kept by the gateway itself, unless the request names a provider: their batches run here, whatever
 * models their lines name.
 */
import type { FormPart, ReceivedForm } from "../bodies/index.ts";
import { GatewayError, type JsonObject, namesVersion } from "../core/index.ts";
import type { FileCall, FileDependencies, OneFileCall } from "./dependencies.ts";
import { listFiles } from "./list-files.ts";
import { namedProvider } from "./named-provider.ts";

/** Purposes of files that no provider has. */
const PURPOSES: ReadonlySet<string | null> = new Set(["batch", "batch_output"]);

/** Characters of a name that are kept. */
const FILENAME_CHARACTERS_MAX = 512;

/** Files on a page that names no limit. */
const PAGE_FILES = 1_000;

/** What a request may name as the time that a file is kept, in seconds. */
const KEEP_SECONDS = { min: 3_600, max: 30 * 86_400 };

/** Whether the request names no provider for its file. */
export function namesNoProvider(call: FileCall): boolean {
  const named = namedProvider(call);
  return !("prefix" in named) && !namesVersion(call.request.headers) && named.asked.length === 0;
}

export function isKept({ kept }: Pick<FileDependencies, "kept">, call: OneFileCall): boolean {
  return kept.isOwn(call.id) && namesNoProvider(call);
}

/** Keeps the file of a form. Throws 413 and 422, and 403 if the user has too many bytes. */
export async function keepFile(
  { kept }: Pick<FileDependencies, "kept">,
  { principal }: FileCall,
  form: ReceivedForm,
): Promise<Response> {
  const [part, ...others] = form.parts.filter(({ filename }) => filename !== undefined);
  if (part === undefined || part.name !== "file" || others.length > 0) {
    throw invalid("file", "the form must have one file, named file");
  }
  const { size } = part;
  // Postgres accepts neither in a text.
  const filename = (part.filename ?? "").replaceAll("\0", "").toWellFormed().slice(0, FILENAME_CHARACTERS_MAX);
  const content = piecesOf(form, part);
  const keepSeconds = keepSecondsIn(form);
  return Response.json(await kept.keep(principal, { filename, size, content, keepSeconds }));
}

function keepSecondsIn({ parts }: ReceivedForm): number | undefined {
  const param = "expires_after[seconds]";
  const text = parts.find(({ name }) => name === param)?.text;
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (Number.isSafeInteger(seconds) && seconds >= KEEP_SECONDS.min && seconds <= KEEP_SECONDS.max) return seconds;
  throw invalid(param, `write a number of seconds from ${KEEP_SECONDS.min} to ${KEEP_SECONDS.max}`);
}

async function* piecesOf(form: ReceivedForm, part: FormPart): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = form.stream(part).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** A page of kept files, which the provider's follow. */
export async function listWithKept(deps: FileDependencies, call: FileCall): Promise<Response> {
  const url = new URL(call.request.url);
  const after = url.searchParams.get("after") ?? undefined;
  const purpose = url.searchParams.get("purpose");
  const isOnlyKept = PURPOSES.has(purpose);
  const followsKept = after !== undefined && deps.kept.isOwn(after);
  if (!isOnlyKept && (purpose !== null || (after !== undefined && !followsKept))) return listFiles(deps, call);
  const limit = limitIn(url) ?? PAGE_FILES;
  const query = { purpose: purpose ?? undefined, isAscending: url.searchParams.get("order") === "asc", limit, after };
  const found = await deps.kept.list(call.principal, query);
  const own = found.slice(0, limit);
  if (isOnlyKept || found.length >= limit) return pageOf(own, { has_more: found.length > limit || !isOnlyKept });
  if (own.length === 0 && after === undefined) return listFiles(deps, call);
  url.searchParams.delete("after");
  if (limitIn(url) !== undefined) url.searchParams.set("limit", String(limit - own.length));
  const request = new Request(url.href, call.request);
  return behindKept(own, await othersOf(deps, { ...call, request }));
}

/** The provider's page; undefined if no provider stores files. */
async function othersOf(deps: FileDependencies, call: FileCall): Promise<Response | undefined> {
  try {
    return await listFiles(deps, call);
  } catch (thrown) {
    const code = thrown instanceof GatewayError ? thrown.code : undefined;
    if (code === "unsupported_operation" || code === "provider_without_key") return undefined;
    throw thrown;
  }
}

async function behindKept(own: readonly JsonObject[], others: Response | undefined): Promise<Response> {
  if (others?.ok === false) return others;
  const page = others === undefined ? { data: [], has_more: false } : ((await others.json()) as { data: JsonObject[] });
  return pageOf([...own, ...page.data], page);
}

function pageOf(data: readonly JsonObject[], page: object): Response {
  const [first_id, last_id] = [data[0]?.["id"] ?? null, data.at(-1)?.["id"] ?? null];
  return Response.json({ object: "list", ...page, data, first_id, last_id });
}

function limitIn(url: URL): number | undefined {
  const limit = Number(url.searchParams.get("limit") ?? Number.NaN);
  return Number.isSafeInteger(limit) && limit >= 1 && limit <= 10_000 ? limit : undefined;
}

function invalid(param: string, reason: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${reason}`, { param });
}
