import type { FileCall, FileDependencies, OneFileCall } from "./dependencies.ts";
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
    return listFiles(this.#deps, call);
  }

  upload(call: FileCall): Promise<Response> {
    return this.#uploads.run(call.principal.user, () => uploadFile(this.#deps, call));
  }

  get(call: OneFileCall): Promise<Response> {
    return getFile(this.#deps, call);
  }

  download(call: OneFileCall): Promise<Response> {
    return downloadFile(this.#deps, call);
  }

  delete(call: OneFileCall): Promise<Response> {
    return deleteFile(this.#deps, call);
  }
}
