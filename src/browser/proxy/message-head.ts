/** The heads of HTTP/1.1 messages, as far as a forward proxy must read and change them. */

/** Header fields that belong to one connection, in lower case; a proxy replaces them by its own. */
const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
]);

export interface ProxyRequest {
  method: string;
  /** `host:port` of a CONNECT request, the absolute URL of any other. */
  target: string;
  /** The lines behind the first one, without an end of line. */
  fields: readonly string[];
}

/** The index of the first byte behind a head, or -1 if the bytes contain no whole one. */
export function endOfHead(bytes: Buffer): number {
  const at = bytes.indexOf("\r\n\r\n");
  return at === -1 ? -1 : at + 4;
}

/** Undefined if the head is not one of a request to a proxy. */
export function readProxyRequest(head: Buffer): ProxyRequest | undefined {
  const [line = "", ...fields] = linesOf(head);
  const [method, target, version] = line.split(" ");
  if (method === undefined || target === undefined || version?.startsWith("HTTP/1.") !== true) return undefined;
  return { method, target, fields };
}

/** The value of the first field with a name, given in lower case. */
export function fieldNamed(fields: readonly string[], name: string): string | undefined {
  const field = fields.find((each) => nameOf(each) === name);
  return field?.slice(field.indexOf(":") + 1).trim();
}

/** The head for the server: with the path alone, and for one request a connection. */
export function requestHeadOf({ method, target, fields }: ProxyRequest): string {
  // Behind the scheme and the authority, in the browser's own notation.
  const [, path = ""] = /^[a-z]+:\/\/[^/?#]*(.*)$/i.exec(target) ?? [];
  const line = `${method} ${path.startsWith("/") ? path : `/${path}`} HTTP/1.1`;
  return headOf(line, fields);
}

/**
 * The head of a reply for the browser. It ends the connection: if the browser used it again, for another host, this
 * host would get the request.
 */
export function replyHeadOf(head: Buffer): { text: string; status: number } | undefined {
  const [line = "", ...fields] = linesOf(head);
  const [, status] = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/.exec(line) ?? [];
  return status === undefined ? undefined : { text: headOf(line, fields), status: Number(status) };
}

function headOf(line: string, fields: readonly string[]): string {
  const kept = fields.filter((field) => !connectionHeaders.has(nameOf(field)));
  return [line, ...kept, "Connection: close", "", ""].join("\r\n");
}

/** One character a byte, so that nothing of a head is lost. */
function linesOf(head: Buffer): string[] {
  return head.toString("latin1").trimEnd().split("\r\n");
}

function nameOf(field: string): string {
  return field.slice(0, field.indexOf(":")).trim().toLowerCase();
}
