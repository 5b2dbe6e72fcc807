import type { FileCall, FileDependencies, OneFileCall } from "./dependencies.ts";
import { isKept, listWithKept, namesNoProvider } from "./kept-files.ts";
import { listFiles } from "./list-files.ts";
import { deleteFile, downloadFile, getFile } from "./one-file.ts";
import { uploadFile } from "./upload-file.ts";
import { UploadsUnderWay } from "./uploads-under-way.ts";

/** The files that callers store at providers. All requests are free, and each caller sees its own files only. */
export class FileService {
  readonly #deps: FileDependencies;
  readonly #uploads = new UploadsUnderWay();

  constructor(deps: FileDependencies) {
    this.#deps = deps;
  }

  /** Uploads under way: a server that stops waits for them, since a file whose answer is lost belongs to nobody. */
  get active(): number {
    return this.#uploads.total;
  }

  list(call: FileCall): Promise<Response> {
    return this.#admitted(call, (deps) => (namesNoProvider(call) ? listWithKept(deps, call) : listFiles(deps, call)));
  }

  /** An upload uses a provider's storage: it needs credits, of which it takes none. */
  upload(call: FileCall): Promise<Response> {
    return this.#uploads.run(call.principal.user, () => this.#admitted(call, uploadFile, true));
  }

  get(call: OneFileCall): Promise<Response> {
    return this.#admitted(call, async (deps) =>
      isKept(deps, call) ? Response.json(await deps.kept.get(call.principal, call.id)) : getFile(deps, call),
    );
  }

  download(call: OneFileCall): Promise<Response> {
    return this.#admitted(call, (deps) =>
      isKept(deps, call) ? deps.kept.download(call.principal, call.id) : downloadFile(deps, call),
    );
  }

  delete(call: OneFileCall): Promise<Response> {
    return this.#admitted(call, async (deps) =>
      isKept(deps, call) ? Response.json(await deps.kept.remove(call.principal, call.id)) : deleteFile(deps, call),
    );
  }

  async #admitted<Call extends FileCall>(
    call: Call,
    handle: (deps: FileDependencies, call: Call) => Promise<Response>,
    needsCredits = false,
  ): Promise<Response> {
    await this.#deps.admitFree({ ...call, operation: "files", provider: call.prefix, needsCredits });
    return handle(this.#deps, call);
  }
}
