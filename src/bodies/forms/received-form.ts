import { createHash } from "node:crypto";
import type { RandomBytes } from "../../core/index.ts";
import { type ComposedField, composedSegments, newBoundary } from "./compose-form.ts";
import { type FormEdit, editedSegments } from "./edit-form.ts";
import type { FormPart, FormSource } from "./form-part.ts";
import type { ScannedPart } from "./form-scanner.ts";
import { type OutgoingForm, outgoingForm, piecesOf, type Segment, streamOf } from "./outgoing-form.ts";

/** A completely received form. Its owner must close it. */
export class ReceivedForm {
  /** In the order of the body. */
  readonly parts: readonly FormPart[];
  readonly #source: FormSource;
  readonly #places: ReadonlyMap<FormPart, ScannedPart>;

  constructor(source: FormSource) {
    this.#source = source;
    this.parts = source.placed.map(({ part }) => part);
    this.#places = new Map(source.placed.map(({ part, scanned }) => [part, scanned]));
  }

  /** Bytes of the body. */
  get size(): number {
    return this.#source.spool.size;
  }

  /**
   * SHA-256 in base64url of the parts' headers and contents, beginning with `prefix`. It excludes the boundary: a
   * client that retries chooses a new one.
   */
  async fingerprint(prefix: string): Promise<string> {
    const hash = createHash("sha256").update(JSON.stringify(prefix));
    for (const part of this.parts) {
      const { name, filename = null, contentType = null, size } = part;
      hash.update(JSON.stringify([name, filename, contentType, size]));
      for await (const piece of piecesOf(this.#source.spool, [this.#contentOf(part)])) hash.update(piece);
    }
    return hash.digest("base64url");
  }

  /** The content of one part, whole. */
  read(part: FormPart): Promise<Buffer> {
    const { start, end } = this.#contentOf(part);
    return this.#source.spool.read(start, end);
  }

  /** The content of one part, piece by piece. It fails once the form is closed. */
  stream(part: FormPart): ReadableStream<Uint8Array> {
    return streamOf(this.#source.spool, [this.#contentOf(part)]);
  }

  /**
   * The received body with new texts for some parts, or without some parts; every other byte stays, including boundary
   * and order. Throws 422 for a text that would contain the boundary.
   */
  edited(edits: readonly FormEdit[]): OutgoingForm {
    const { contentType, spool } = this.#source;
    return outgoingForm(contentType, spool, editedSegments(this.#source, edits));
  }

  /** A new form of fields and received files, with a new boundary. */
  composed(fields: readonly ComposedField[], randomBytes: RandomBytes): OutgoingForm {
    const boundary = newBoundary(randomBytes);
    const segments = composedSegments(boundary, fields, (part) => this.#contentOf(part));
    return outgoingForm(`multipart/form-data; boundary=${boundary}`, this.#source.spool, segments);
  }

  /** Frees the memory or the temporary file. A second call does nothing. */
  close(): Promise<void> {
    return this.#source.spool.close();
  }

  #contentOf(part: FormPart): Exclude<Segment, Uint8Array> {
    const place = this.#places.get(part);
    if (place === undefined) throw new Error(`the part ${part.name} belongs to another form`);
    return { start: place.contentStart, end: place.contentEnd };
  }
}
