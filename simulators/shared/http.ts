import type { IncomingMessage } from "node:http";

/** Larger bodies are refused as no provider takes them. */
const bodyBytesMax = 256 * 1_048_576;

/** Thrown if a request's body exceeds the limit. */
export class BodyTooLargeError extends Error {}

/**
 * Reads a whole request body. @throws BodyTooLargeError over 256 MiB, or the socket's error if the caller disconnected.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  const stream: AsyncIterable<Buffer> = request;
  for await (const bytes of stream) {
    size += bytes.length;
    if (size > bodyBytesMax) throw new BodyTooLargeError("request body over 256 MiB");
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}

/** Request headers with one text a name, several lines joined by a comma. */
export function flatHeaders(request: IncomingMessage): { [name: string]: string } {
  const flat: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

/** The token of `Authorization: Bearer TOKEN`; null if the header is missing or malformed. */
export function bearerKey(headers: { readonly [name: string]: string }): string | null {
  return /^Bearer\s+(\S+)\s*$/i.exec(headers["authorization"] ?? "")?.[1] ?? null;
}

/** Waits, but no longer than until the signal fires. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Matches a path against a pattern with `:name` and `:name:suffix` segments; null without a match. */
export function matchPath(pattern: string, path: string): { [name: string]: string } | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const parameters: { [name: string]: string } = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? "";
    const [, name, suffix = ""] = /^:(\w+)(:\w+)?$/.exec(segment) ?? [];
    if (name !== undefined && value.endsWith(suffix) && value.length > suffix.length) {
      parameters[name] = decodeSegment(value.slice(0, value.length - suffix.length));
    } else if (segment !== value) return null;
  }
  return parameters;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
