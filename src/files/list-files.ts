/**
 * The caller's own files, out of the upstream's list of everybody's. The upstream's pages are read until one page of own
 * files is full, or the list ends, or all own files have been found.
 *
 * A file is listed by the key that made it. With several keys, their lists follow one another: providers' keys may belong
 * to different accounts, or to the same one, whose files are then listed by each of them.
 */
import { GatewayError, type JsonObject, limits, listOf, objectOf } from "../core/index.ts";
import { answerWith, askForReply, type FailedReply, type FreeRequest, type WholeReply } from "../sending/index.ts";
import { chooseProvider, type FileProvider } from "./choose-provider.ts";
import type { FileCall, FileDependencies } from "./dependencies.ts";
import { namedProvider, queryWithout } from "./named-provider.ts";
import { findFile } from "./owned-file.ts";

export async function listFiles(deps: FileDependencies, call: FileCall): Promise<Response> {
  const chosen = chooseProvider(deps, namedProvider(call));
  const query = new URLSearchParams(queryWithout(call));
  const start = await keyOfCursor(deps, call, chosen, query);
  const owned = await ownedFiles(deps, call, chosen);
  const { pagesBy } = chosen.files;
  const from = pagesBy === "page" ? (query.get("page") ?? undefined) : undefined;
  const listing = new Listing(chosen, owned, { limit: limitOf(query), isFromStart: start === undefined, from });
  const { route, files } = chosen;
  const target = { route, operation: files.operation };
  let shown: { reply: WholeReply; question: FreeRequest } | undefined;
  for (const pinnedKeyId of listing.keysFrom(start)) {
    const isOwnQuery = shown === undefined && pagesBy === "after";
    let subpath: string | undefined = isOwnQuery ? queryWithout(call) : nextPage(query, pagesBy);
    while (subpath !== undefined) {
      const question: FreeRequest = { target, method: "GET", subpath, pinnedKeyId };
      const reply: WholeReply | FailedReply = await askForReply(deps.asking, call.request, question);
      if (reply.kind === "failed") return answerWith(reply, question);
      shown ??= { reply, question };
      const after = listing.take(reply.answers[0].answer, pinnedKeyId);
      subpath = after && nextPage(query, pagesBy, after);
    }
    if (listing.isComplete) break;
  }
  if (shown === undefined) throw new Error(`provider ${route.prefix} is routed without a key`);
  const { reply, question } = shown;
  return answerWith(reply, question, JSON.stringify({ ...reply.answers[0].answer, ...listing.page() }));
}

/** Whose files are listed: the keys of the caller's own files by id, or undefined for everybody's. */
type OwnedFiles = ReadonlyMap<string, string> | undefined;

async function ownedFiles(
  { store, clock }: FileDependencies,
  { principal }: FileCall,
  { route }: FileProvider,
): Promise<OwnedFiles> {
  if (principal.service) return undefined;
  const files = await store.filesOf(route.prefix, principal.user, clock());
  const [first = ""] = route.keys.ids;
  // The files of a key that the operator has replaced are probably those of the first one.
  return new Map(files.map(({ id, keyId }) => [id, route.keys.find(keyId)?.id ?? first]));
}

/** The key of the file at which the list continues. Throws 404 unless it is the caller's: others would learn of it. */
async function keyOfCursor(
  deps: FileDependencies,
  call: FileCall,
  { route, files }: FileProvider,
  query: URLSearchParams,
): Promise<string | undefined> {
  let key: string | undefined;
  for (const param of files.pagesBy === "page" ? ["page"] : ["after", "before"]) {
    for (const id of query.getAll(param)) [key] = (await findFile(deps, call, { route, id, param })).keys;
  }
  return key;
}

/** The requested number of files; undefined if the upstream decides. */
function limitOf(query: URLSearchParams): number | undefined {
  const limit = Number(query.get("limit") ?? Number.NaN);
  return Number.isSafeInteger(limit) && limit >= 1 ? limit : undefined;
}

/** The query of a further page. Without `limit`, it has as many files as the upstream likes. */
function nextPage(query: URLSearchParams, cursor: string, after?: string): string {
  const next = new URLSearchParams(query);
  next.delete("limit");
  next.delete(cursor);
  if (after !== undefined) next.set(cursor, after);
  return next.size === 0 ? "" : `?${next.toString()}`;
}

/** Collects one page of own files. */
class Listing {
  readonly #chosen: FileProvider;
  readonly #owned: OwnedFiles;
  readonly #isFromStart: boolean;
  readonly #found = new Map<string, JsonObject>();
  #limit: number | undefined;
  #pages = 0;
  readonly #cursors = new Set<string>();
  /** The file before the page, until it has come. */
  #skipsTo: string | undefined;
  /** Whether the upstream's list has more pages than are read. */
  #isCutOff = false;

  constructor(
    chosen: FileProvider,
    owned: OwnedFiles,
    { limit, isFromStart, from }: { limit: number | undefined; isFromStart: boolean; from: string | undefined },
  ) {
    this.#skipsTo = from;
    this.#chosen = chosen;
    this.#owned = owned;
    this.#limit = limit;
    this.#isFromStart = isFromStart;
  }

  /** The keys whose lists may contain files of the caller, from this one on; one key if there are none. */
  keysFrom(start: string | undefined): readonly (string | undefined)[] {
    const { ids } = this.#chosen.route.keys;
    const of = new Set(this.#owned?.values());
    const keys = this.#owned === undefined ? ids : ids.filter((id) => of.has(id));
    const at = start === undefined ? 0 : Math.max(keys.indexOf(start), 0);
    return keys.length === 0 ? [undefined] : keys.slice(at);
  }

  /** Takes the own files of an upstream's page. Returns the cursor of the next page that is needed. */
  take(answer: JsonObject, keyId: string | undefined): string | undefined {
    if (!Array.isArray(answer["data"])) {
      throw new GatewayError("upstream_invalid_answer", "The upstream answered with something that is no list.");
    }
    this.#pages += 1;
    const files = listOf(answer["data"]).map(objectOf);
    for (const file of files) if (file !== undefined) this.#add(file, keyId);
    const { pagesBy } = this.#chosen.files;
    const next =
      pagesBy === "page" ? answer["next_page"] : answer["has_more"] === true && cursorOf(answer, files.at(-1));
    const after = typeof next === "string" && next !== "" ? next : undefined;
    if (after !== undefined) this.#limit ??= Math.max(files.length, 1);
    if (after === undefined || this.#cursors.has(after)) return undefined;
    this.#isCutOff = !this.isComplete && this.#pages >= limits.fileListPagesMax;
    if (this.isComplete) return undefined;
    this.#cursors.add(after);
    return after;
  }

  /** Whether no further page is needed: all own files have been found, or one more than the page has room for. */
  get isComplete(): boolean {
    const isFull = this.#found.size > (this.#limit ?? Number.POSITIVE_INFINITY);
    const isAll = this.#isFromStart && this.#owned !== undefined && this.#found.size === this.#owned.size;
    return isFull || isAll || this.#isCutOff;
  }

  #add(file: JsonObject, keyId: string | undefined): void {
    const { id } = file;
    if (typeof id !== "string" || this.#found.has(id)) return;
    if (this.#skipsTo !== undefined) {
      if (id === this.#skipsTo) this.#skipsTo = undefined;
      return;
    }
    const isListed = this.#owned === undefined || (this.#owned.has(id) && this.#owned.get(id) === keyId);
    if (isListed) this.#found.set(id, file);
  }

  /** The members of the list that are the caller's own. */
  page(): object {
    const all = [...this.#found.values()];
    const data = all.slice(0, this.#limit);
    const last = data.at(-1)?.["id"] ?? null;
    const hasMore = this.#isCutOff || data.length < all.length;
    if (this.#chosen.files.pagesBy === "page") return { data, next_page: hasMore ? last : null };
    return { data, first_id: data[0]?.["id"] ?? null, last_id: last, has_more: hasMore };
  }
}

function cursorOf(answer: JsonObject, last: JsonObject | undefined): unknown {
  return answer["last_id"] ?? last?.["id"];
}
