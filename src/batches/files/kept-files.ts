/** The files of batches, as `/v1/files` shows them. All requests are free. */
import type { Principal } from "../../auth/index.ts";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import type { BatchDependencies } from "../dependencies.ts";
import { isKeptFileId } from "../batch-ids.ts";
import type { FilePage, FilePurpose, KeptFile, KeptFileStore } from "../store.ts";
import { writeFile } from "./write-file.ts";

const MS_PER_SECOND = 1_000;

type Dependencies = Pick<BatchDependencies, "files" | "environment" | "bounds">;

/** A page of files; `after` is an id. */
interface FileQuery extends Pick<FilePage, "purpose" | "isAscending" | "limit"> {
  after: string | undefined;
}

export class KeptFiles {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Whether an id is one of files that are kept here. */
  isOwn(id: string): boolean {
    return isKeptFileId(id);
  }

  /** Keeps an upload with the purpose `batch`. Rejects with 413 and 403. */
  async keep(
    { user: owner }: Principal,
    upload: { filename: string; size: number; content: AsyncIterable<Uint8Array>; keepSeconds: number | undefined },
  ): Promise<JsonObject> {
    const { bounds, environment } = this.#deps;
    const { filename, size, content, keepSeconds } = upload;
    if (size > bounds.fileBytesMax) {
      throw new GatewayError("body_too_large", `A file of a batch has at most ${bounds.fileBytesMax} bytes.`);
    }
    const keptUntil = environment.clock() + Math.min((keepSeconds ?? Infinity) * MS_PER_SECOND, bounds.keepMs);
    const file = { owner, purpose: "batch" as const, filename, size, keptUntil, isListed: true };
    return fileObject(await writeFile(this.#deps, file, content));
  }

  async get(principal: Principal, id: string): Promise<JsonObject> {
    return fileObject(await this.find(principal, id));
  }

  /** The bytes of a file. */
  async download(principal: Principal, id: string): Promise<Response> {
    const file = await this.find(principal, id);
    const headers = { "content-type": "application/octet-stream", "content-length": String(file.bytes) };
    return new Response(contentOf(this.#deps.files, file), { headers });
  }

  /** Rejects with 409 for the input of a batch that has not ended. */
  async remove(principal: Principal, id: string): Promise<JsonObject> {
    await this.find(principal, id);
    if (!(await this.#deps.files.removeUnlessInput(id))) {
      throw new GatewayError("batch_not_ended", "A batch that has not ended reads this file: cancel it first.");
    }
    return { id, object: "file", deleted: true };
  }

  /** The caller's files, one more than `limit` if there are more. Rejects with 404 for an `after` of nobody or of others. */
  async list(principal: Principal, { after, ...query }: FileQuery): Promise<JsonObject[]> {
    const before = after === undefined ? undefined : await this.find(principal, after, "after");
    const page = { ...query, owner: principal.user, after: before, limit: query.limit + 1 };
    return (await this.#deps.files.list(page, this.#deps.environment.clock())).map(fileObject);
  }

  /** The caller's file. Rejects with 404, whether there is one of others or none. */
  async find({ user, service }: Principal, id: string, param = "file_id"): Promise<KeptFile> {
    const found = isKeptFileId(id) ? await this.#deps.files.find(id, this.#deps.environment.clock()) : undefined;
    if (found?.isListed === true && (found.owner === user || service)) return found;
    const shown = JSON.stringify(id.slice(0, 80));
    throw new GatewayError("object_not_found", `There is no file ${shown} of yours.`, { param });
  }

  deleteExpired(): Promise<void> {
    return this.#deps.files.deleteExpired(this.#deps.environment.clock());
  }
}

/** The content, read part by part as fast as it is taken. */
export function contentOf(
  files: Pick<KeptFileStore, "part">,
  { id, parts }: Pick<KeptFile, "id" | "parts">,
): ReadableStream<Uint8Array> {
  let number = 0;
  return new ReadableStream({
    async pull(controller) {
      if (number >= parts) return controller.close();
      const part = await files.part(id, number);
      if (part === undefined) return controller.error(new Error("the file was deleted"));
      number += 1;
      controller.enqueue(part);
    },
  });
}

const shownPurposes: Record<FilePurpose, string> = {
  batch: "batch",
  batch_output: "batch_output",
  message_batch: "batch",
};

function fileObject({ id, bytes, createdAt, keptUntil, filename, purpose }: KeptFile): JsonObject {
  return {
    id,
    object: "file",
    bytes,
    created_at: Math.floor(createdAt / MS_PER_SECOND),
    expires_at: Math.floor(keptUntil / MS_PER_SECOND),
    filename,
    purpose: shownPurposes[purpose],
    status: "processed",
  };
}
