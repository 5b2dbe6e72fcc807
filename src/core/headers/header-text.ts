import { isUtf8 } from "node:buffer";

/** The text of a header. Clients send UTF-8, whose bytes a header has as characters. Other bytes are Latin-1, as they stand. */
export function textOfHeader(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}
