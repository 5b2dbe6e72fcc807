/** Forms for the tests of this folder, and requests that send them in pieces. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { GatewayError } from "../../../core/index.ts";
import { type FormLimits, readForm, type ReceivedForm } from "../index.ts";

export const boundary = "----bound4ry";

/** A part with these headers and content. */
export const rawPart = (headers: string, content: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`), Buffer.from(content), Buffer.from("\r\n")]);

export const fieldPart = (name: string, content: string | Uint8Array, more = ""): Buffer =>
  rawPart(`Content-Disposition: form-data; name="${name}"${more}`, content);

export const filePart = (name: string, content: string | Uint8Array): Buffer =>
  fieldPart(name, content, '; filename="a.bin"\r\nContent-Type: application/octet-stream');

export const formOf = (...parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);

/** `body` in pieces that end at these offsets. */
export function cut(body: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const ends = [...new Set(offsets.map((offset) => offset % (body.length + 1))), body.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => body.subarray(ends[index - 1] ?? 0, end));
}

/** Pieces of this size. */
export function cutEvery(body: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
    body.subarray(index * size, (index + 1) * size),
  );
}

/** A stream that counts the pulled bytes. */
export function streamed(pieces: readonly Uint8Array[], taken = { bytes: 0 }): ReadableStream<Uint8Array> {
  const rest = pieces.filter(({ length }) => length > 0).values();
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = rest.next();
        if (done === true) return controller.close();
        taken.bytes += value.length;
        controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

export function post(
  body: Uint8Array | ReadableStream<Uint8Array> | FormData,
  headers: Record<string, string> = { "content-type": `multipart/form-data; boundary=${boundary}` },
): Request {
  return new Request("http://gateway.example/", { method: "POST", body, headers });
}

/** A clock that stands still. */
export const patient: FormLimits = {
  bytesMax: 64 * 1024 * 1024,
  arrivalMsMax: 60_000,
  ticker: { now: () => 0, watch: () => undefined, leave: () => undefined },
};

/** Reads a form, passes it to a function, and closes it. */
export async function withForm<T>(
  request: Request,
  use: (form: ReceivedForm) => T | Promise<T>,
  formLimits: FormLimits = patient,
): Promise<T> {
  const form = await readForm(request, formLimits);
  try {
    return await use(form);
  } finally {
    await form.close();
  }
}

/** The temporary files of forms in the test's own folder: the folder, and the open files in it. */
export function spoolFolder() {
  const path = mkdtempSync(join(tmpdir(), "spool-test-"));
  return {
    path,
    files: () => readdirSync(path),
    /** Open descriptors of its files, with or without a name. */
    open: () => readdirSync("/proc/self/fd").filter((fd) => targetOf(fd).startsWith(path)).length,
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

function targetOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // The descriptor that listed the folder.
    return "";
  }
}

/** The error that a function throws or rejects with. */
export async function refusalOf(doing: () => unknown): Promise<GatewayError> {
  try {
    await doing();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("no refusal");
}

export const bytesOf = async (body: ReadableStream<Uint8Array> | Uint8Array): Promise<Buffer> =>
  Buffer.from(await new Response(body).arrayBuffer());

export interface MadePart {
  name: string;
  content: Uint8Array;
  isFile: boolean;
}

const nastyPieces = ["\r\n", "\r", "\n", "--", "\r\n--", "\r\n------bound4r", "------bound", "x", "é😀", ""];
const text = fc.array(fc.constantFrom(...nastyPieces), { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join("")));
const letters = Array.from("abcdefghijklmnop_.é");

/** Parts whose content looks like a boundary but is not; their names differ. */
export const madeParts: fc.Arbitrary<MadePart[]> = fc.uniqueArray(
  fc.record({
    name: fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 8 }),
    isFile: fc.boolean(),
    content: text,
  }),
  { selector: ({ name }) => name.toLowerCase(), maxLength: 6 },
);

export const bodyOf = (parts: readonly MadePart[]): Buffer =>
  formOf(...parts.map(({ name, isFile, content }) => (isFile ? filePart(name, content) : fieldPart(name, content))));
