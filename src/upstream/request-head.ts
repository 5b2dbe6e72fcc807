import type { UpstreamRequest } from "../core/index.ts";
import type { RequestTarget } from "./targets.ts";

/** Headers that define the framing or the host: the client writes them itself, or has no use for them. */
const ownHeaders = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbiddenInValue = /[^\t\x20-\x7e\x80-\xff]/;

/** The serialized headers, and the head's opening for their last target. */
interface Written {
  readonly lines: string;
  readonly method: UpstreamRequest["method"];
  readonly target: RequestTarget;
  readonly opening: string;
}

/** The same headers object is used for thousands of calls, and mostly for one target. */
const written = new WeakMap<Headers, Written>();

/**
 * The request line and the headers, each with its line end, as Latin-1. Throws a TypeError if a name or value could be
 * misread. Later changes of `headers` are ignored.
 */
export function headOpening({ method, headers }: UpstreamRequest, target: RequestTarget): string {
  const known = written.get(headers);
  if (known !== undefined && known.target === target && known.method === method) return known.opening;
  const lines = known?.lines ?? linesOf(headers);
  const opening = `${method} ${target.lines}${lines}`;
  written.set(headers, { lines, method, target, opening });
  return opening;
}

function linesOf(headers: Headers): string {
  let text = "";
  for (const [name, value] of headers) {
    if (ownHeaders.has(name)) continue;
    // The message contains neither: a value may be a key.
    if (!headerName.test(name)) throw new TypeError("a request header's name has characters that none may have");
    if (forbiddenInValue.test(value)) throw new TypeError(`the request header ${name} has forbidden characters`);
    text += `${name}: ${value}\r\n`;
  }
  return headers.has("accept-encoding") ? text : `${text}accept-encoding: identity\r\n`;
}
