import type { JsonObject } from "../json.ts";

/** A file that a provider stores. */
export interface StoredFile {
  /** The API key: each one has an account of its own. */
  readonly account: string;
  readonly id: string;
  readonly body: JsonObject;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

const filesMax = 2_000;
const bytesMax = 256 * 1_048_576;

/** The files that one provider stores; the oldest make room for new ones. */
export class StoredFiles {
  #files: StoredFile[] = [];
  #count = 0;

  /** A number for each upload: equal uploads make different files. */
  next(): number {
    this.#count += 1;
    return this.#count;
  }

  add(file: StoredFile): void {
    this.#files.push(file);
    let size = this.#files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    while (this.#files.length > filesMax || (size > bytesMax && this.#files.length > 1)) {
      size -= this.#files.shift()?.bytes.length ?? 0;
    }
  }

  get(account: string, id: string): StoredFile | undefined {
    return this.#files.find((file) => file.account === account && file.id === id);
  }

  /** The file, whoever's it is: for signed addresses. */
  find(id: string): StoredFile | undefined {
    return this.#files.find((file) => file.id === id);
  }

  replace(file: StoredFile, body: JsonObject): void {
    this.#files = this.#files.map((one) => (one === file ? { ...file, body } : one));
  }

  delete(file: StoredFile): void {
    this.#files = this.#files.filter((one) => one !== file);
  }

  /** Oldest first. */
  all(account: string): readonly StoredFile[] {
    return this.#files.filter((file) => file.account === account);
  }
}
