import type { Faults } from "./faults.ts";
import { pause } from "./http.ts";
import type { Outlet } from "./outlet.ts";
import { type Frame, renderFrame } from "./sse.ts";
import type { Answer, Headers, ProviderErrors } from "./types.ts";

type JsonAnswer = Extract<Answer, { readonly kind: "json" }>;
type StreamAnswer = Extract<Answer, { readonly kind: "stream" }>;
type PiecesAnswer = Extract<Answer, { readonly kind: "pieces" }>;

/** The parameters of sending one answer. */
export interface Delivery {
  readonly outlet: Outlet;
  readonly faults: Faults;
  /** Headers of every answer of this provider. */
  readonly headers: Headers;
  readonly errors: ProviderErrors;
}

const htmlPage = [
  "<html>",
  "<head><title>502 Bad Gateway</title></head>",
  "<body><center><h1>502 Bad Gateway</h1></center><hr><center>edge</center></body>",
  "</html>",
  "",
].join("\r\n");

/** The fault that replaces the answer, or null. */
export function replacingFault(faults: Faults, errors: ProviderErrors): JsonAnswer | null {
  if (faults.errorInOk) return { kind: "json", status: 200, body: errors.forStatus(400).body };
  if (faults.status === null) return null;
  const error = errors.forStatus(faults.status);
  const wait = faults.retryAfterSeconds;
  const headers: Headers = wait === null ? {} : { "retry-after": String(wait) };
  return { kind: "json", status: error.status, body: error.body, headers };
}

/** Sends an answer with its faults. Resolves when it is ended, cut or aborted by the caller. */
export async function deliver(answer: Answer, delivery: Delivery): Promise<void> {
  const { faults } = delivery;
  if (faults.html502)
    return deliverBytes({ status: 502, contentType: "text/html", bytes: Buffer.from(htmlPage) }, delivery);
  if (answer.kind === "stream") return deliverStream(answer, delivery);
  if (answer.kind === "pieces") return deliverPieces(answer, delivery);
  if (answer.kind === "bytes") {
    const bytes = faults.empty ? Buffer.of() : answer.bytes;
    const { status = 200, contentType, headers } = answer;
    return deliverBytes({ status, contentType, bytes, headers }, delivery);
  }
  const contentType = "application/json";
  if (faults.empty && answer.status === 200)
    return deliverBytes({ status: 200, contentType, bytes: Buffer.of() }, delivery);
  const text = (answer.lead ?? "") + JSON.stringify(answer.body);
  const sent = faults.malformed && answer.status === 200 ? text.slice(0, Math.ceil(text.length * 0.6)) : text;
  const { status, headers } = answer;
  await deliverBytes({ status, contentType, bytes: Buffer.from(sent), headers }, delivery);
}

interface WholeBytes {
  status: number;
  contentType: string;
  bytes: Uint8Array;
  headers?: Headers | undefined;
}

async function deliverBytes(
  { status, contentType, bytes, headers = {} }: WholeBytes,
  delivery: Delivery,
): Promise<void> {
  const { outlet, faults } = delivery;
  // A gzip-encoded body is sent in chunks, as its length is not known before.
  const length: Headers = faults.gzip ? {} : { "content-length": String(bytes.length) };
  outlet.open(status, { ...delivery.headers, ...headers, "content-type": contentType, ...length });
  const interrupted = faults.stallAfter !== null || faults.cutAfter !== null || faults.truncate;
  if (!interrupted) {
    await outlet.write(bytes);
    return outlet.end();
  }
  const bodySent = (faults.stallAfter ?? faults.cutAfter) !== 0;
  if (bodySent) await outlet.write(bytes.subarray(0, Math.ceil(bytes.length / 2)));
  return faults.stallAfter === null ? outlet.cut() : outlet.stall();
}

async function deliverStream(answer: StreamAnswer, delivery: Delivery): Promise<void> {
  const { outlet, faults } = delivery;
  const type = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
  outlet.open(200, { ...delivery.headers, ...answer.headers, ...type });
  if (faults.empty) return outlet.end();
  let events = 0;
  for (const frame of answer.frames) {
    const counted = !("comment" in frame);
    if (counted && (await interrupt(events, delivery))) return;
    if (counted && events > 0) await pause(faults.paceMs, outlet.gone);
    if (outlet.gone.aborted) return;
    await writeFrame(faults.malformed && counted && events === 1 ? broken(frame) : frame, delivery);
    if (counted) events += 1;
  }
  if (!(await interrupt(events, delivery))) await outlet.end();
}

/** Raw bytes cannot contain an error: `error-N` leaves them unchanged. */
async function deliverPieces(answer: PiecesAnswer, delivery: Delivery): Promise<void> {
  const { outlet } = delivery;
  const faults = { ...delivery.faults, errorAfter: null };
  outlet.open(200, { ...delivery.headers, ...answer.headers, "content-type": answer.contentType });
  if (faults.empty) return outlet.end();
  let sent = 0;
  for (const piece of answer.pieces) {
    if (await interrupt(sent, { ...delivery, faults })) return;
    if (sent > 0) await pause(faults.paceMs, outlet.gone);
    if (outlet.gone.aborted) return;
    await outlet.write(piece);
    sent += 1;
  }
  if (!(await interrupt(sent, { ...delivery, faults }))) await outlet.end();
}

/** Applies the fault that is due after so many events; true if it ends the stream. */
async function interrupt(events: number, delivery: Delivery): Promise<boolean> {
  const { outlet, faults, errors } = delivery;
  if (events === faults.stallAfter) {
    await outlet.stall();
    return true;
  }
  if (events === faults.cutAfter) {
    await outlet.cut();
    return true;
  }
  if (events !== faults.errorAfter) return false;
  for (const frame of errors.midStream(events)) await writeFrame(frame, delivery);
  await outlet.end();
  return true;
}

function writeFrame(frame: Frame, delivery: Delivery): Promise<void> {
  return delivery.outlet.write(Buffer.from(renderFrame(frame, delivery.faults.crlf ? "\r\n" : "\n")));
}

/** A data line with incomplete JSON. */
function broken(frame: Frame): Frame {
  return "comment" in frame ? frame : { ...frame, data: frame.data.slice(0, Math.ceil(frame.data.length * 0.6)) };
}
