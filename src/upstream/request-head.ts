import type { UpstreamRequest } from "../core/index.ts";
import type { RequestTarget } from "./targets.ts";

/** They say how the request is framed and whom it goes to: the client writes them, or has no use for them. */
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

/** What is written of headers, and the head's opening for the target that they went to last. */
interface Written {
  readonly lines: string;
  readonly method: UpstreamRequest["method"];
  readonly target: RequestTarget;
  readonly opening: string;
}

/** The same headers come for thousands of calls, and mostly for one target. */
const written = new WeakMap<Headers, Written>();

/**
 * The request line and the headers, each with its line end, as latin1. Throws a TypeError where a name or value could be
 * read as something else. Later changes of `headers` are not seen.
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
    // Neither is in the message: a value may be a key.
    if (!headerName.test(name)) throw new TypeError("a request header's name has characters that none may have");
    if (forbiddenInValue.test(value)) throw new TypeError(`the request header ${name} has forbidden characters`);
    text += `${name}: ${value}\r\n`;
  }
  return headers.has("accept-encoding") ? text : `${text}accept-encoding: identity\r\n`;
}
