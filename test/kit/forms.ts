/** Forms written by hand, byte by byte, which no client library would send. */
import { openRaw, type RawAnswer, type RawConnection } from "./raw.ts";

/** The boundary of forms that need no other. */
export const formBoundary = "----by-hand-5e1f";

/** A part by its header lines and its content. */
export function partOf(headers: string, content: string | Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${headers}\r\n\r\n`), Buffer.from(content)]);
}

export function fieldOf(name: string, text: string | Uint8Array, more = ""): Buffer {
  return partOf(`Content-Disposition: form-data; name="${name}"${more}`, text);
}

/** A file by the name of its field; its own name and type are always the same. */
export function fileOf(name: string, content: string | Uint8Array): Buffer {
  return fieldOf(name, content, '; filename="cat.png"\r\nContent-Type: image/png');
}

/** The body of a form with these parts. */
export function formBodyOf(parts: readonly Uint8Array[], boundary = formBoundary): Buffer {
  const delimited = parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part, Buffer.from("\r\n")]);
  return Buffer.concat([...delimited, Buffer.from(`--${boundary}--\r\n`)]);
}

export const formType = (boundary = formBoundary): string => `multipart/form-data; boundary=${boundary}`;

/** The unusual parts of a form's request. */
export interface FormPost {
  url: string;
  path: string;
  token: string;
  body: Uint8Array;
  contentType?: string;
  /** Further header lines. */
  headers?: string[];
  /** Chunks in place of a length: all of them, or none behind the body. */
  chunked?: "whole" | "unended" | undefined;
  /** A length that is not the body's own. */
  declared?: number;
}

/** The bytes of a request that brings a form. */
function formRequest({ path, token, body, ...more }: FormPost): Buffer {
  const { contentType = formType(), headers = [], chunked, declared = body.byteLength } = more;
  const length = chunked === undefined ? `content-length: ${declared}` : "transfer-encoding: chunked";
  const lines = ["host: gateway", `authorization: Bearer ${token}`, `content-type: ${contentType}`, ...headers, length];
  const head = Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  if (chunked === undefined) return Buffer.concat([head, body]);
  const size = Buffer.from(`${body.byteLength.toString(16)}\r\n`);
  const end = Buffer.from(chunked === "whole" ? "\r\n0\r\n\r\n" : "");
  return Buffer.concat([head, size, body, end]);
}

/** Sends the available part of a form on a new connection, which stays open. */
export async function openForm(post: FormPost): Promise<RawConnection> {
  const connection = await openRaw(post.url);
  connection.socket.write(formRequest(post));
  return connection;
}

/** Sends a form, and returns the answer. */
export async function sendForm(post: FormPost): Promise<RawAnswer> {
  const connection = await openForm(post);
  const answer = await connection.answer();
  connection.socket.destroy();
  if (answer === undefined) throw new Error("the connection ended without an answer");
  return answer;
}
