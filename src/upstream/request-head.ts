/** The headers of a request as they are written, each line with its line end. */
export interface HeaderText {
  readonly text: string;
  /** Else it has to be written as latin1, which a string on a socket is not. */
  readonly isAscii: boolean;
}

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
const notAscii = /[^\0-\x7f]/;

/** The same headers come for thousands of calls. */
const written = new WeakMap<Headers, HeaderText>();

/** Throws a TypeError where a name or value could be read as something else. Later changes of `headers` are not seen. */
export function headerText(headers: Headers): HeaderText {
  const known = written.get(headers);
  if (known !== undefined) return known;
  const text = write(headers);
  const made = { text, isAscii: !notAscii.test(text) };
  written.set(headers, made);
  return made;
}

function write(headers: Headers): string {
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
