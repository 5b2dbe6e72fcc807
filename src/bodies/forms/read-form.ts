import { isUtf8 } from "node:buffer";
import { tmpdir } from "node:os";
import { GatewayError, limits } from "../../core/index.ts";
import { receiveInTime, bodyInterrupted, type BodyLimits, bodyTooLarge, refuseDeclaredSize } from "../arrival.ts";
import type { BodySource } from "../body-source.ts";
import { boundaryOf } from "./content-type.ts";
import { checkNames } from "./field-names.ts";
import type { PlacedPart } from "./form-part.ts";
import { FormScanner, type ScannedPart } from "./form-scanner.ts";
import { ReceivedForm } from "./received-form.ts";
import { invalidPart } from "./refusals.ts";
import { Spool } from "./spool.ts";

export interface FormLimits extends BodyLimits {
  /** The folder for the temporary files of large forms; by default the system's. */
  spoolFolder?: string;
}

/**
 * Receives a request's form, piece by piece; the caller must close it. Throws 422 naming the part for a malformed form,
 * 413 as soon as the body is known to exceed `bytesMax`, 408 if it does not arrive in time, `request_interrupted` if
 * the client disconnects before its end, and `storage_unavailable` if the disk does not accept it.
 */
export async function readForm(source: BodySource, formLimits: FormLimits): Promise<ReceivedForm> {
  const contentType = source.headers.get("content-type") ?? "";
  const boundary = boundaryOf(contentType);
  refuseDeclaredSize(source.headers, formLimits.bytesMax);
  const scanner = new FormScanner(boundary);
  const spool = new Spool(formLimits.spoolFolder ?? tmpdir(), memoryFor(source.headers));
  const body: ReadableStream<Uint8Array> | null = source.body;
  const reader = body?.getReader();
  try {
    if (reader !== undefined) await receiveInTime(receive(reader, scanner, spool, formLimits.bytesMax), formLimits);
    scanner.end();
    checkNames(scanner.parts);
    const placed: PlacedPart[] = [];
    for (const scanned of scanner.parts) placed.push({ part: await describe(scanned, spool), scanned });
    return new ReceivedForm({ contentType, boundary, spool, placed });
  } catch (error) {
    // The client may have disconnected; the remainder of its body is irrelevant in either case.
    await reader?.cancel().catch(() => undefined);
    await spool.close();
    throw error;
  }
}

/** A body that is known to be large goes to a file at once. */
function memoryFor(headers: Headers): number {
  const { formMemoryBytesMax } = limits;
  return Number(headers.get("content-length")) > formMemoryBytesMax ? 0 : formMemoryBytesMax;
}

interface Reader {
  read(): Promise<{ value?: Uint8Array | undefined }>;
}

/** Continues only when a piece is scanned and stored. */
async function receive(reader: Reader, scanner: FormScanner, spool: Spool, bytesMax: number): Promise<void> {
  for (;;) {
    const chunk = await nextChunk(reader);
    if (chunk === undefined) return;
    if (spool.size + chunk.byteLength > bytesMax) throw bodyTooLarge(bytesMax);
    scanner.push(chunk);
    await spool.write(chunk);
  }
}

async function nextChunk(reader: Reader): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value;
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : bodyInterrupted(cause);
  }
}

async function describe(scanned: ScannedPart, spool: Spool): Promise<PlacedPart["part"]> {
  const { name, filename, contentType, contentStart, contentEnd } = scanned;
  const text = filename === undefined ? await textOf(scanned, spool) : undefined;
  return { name, filename, contentType, size: contentEnd - contentStart, text };
}

async function textOf({ name, contentStart, contentEnd }: ScannedPart, spool: Spool): Promise<string> {
  const bytes = await spool.read(contentStart, contentEnd);
  if (!isUtf8(bytes)) throw invalidPart(name, "is not valid UTF-8.");
  const text = bytes.toString("utf8");
  // It would define the character set of all fields.
  if (name === "_charset_" && text.toLowerCase() !== "utf-8") throw invalidPart(name, "must be utf-8.");
  return text;
}
