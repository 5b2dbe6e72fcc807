import type { RpcId } from "./json-rpc.ts";
import { listed } from "./results.ts";
import type { McpServer, ToolListing } from "./server.ts";

/** Bytes before a result, at whose end the beginning of each answer is written. Ids of clients are short. */
const HEAD_BYTES = 128;

interface Prepared {
  stateless: Buffer<ArrayBuffer> | undefined;
  session: Buffer<ArrayBuffer> | undefined;
}

const prepared = new WeakMap<ToolListing, Prepared>();

/**
 * The answer to `tools/list`. A list may have hundreds of kilobytes, and many clients get the same one: its bytes are made once, and each
 * answer writes its id before them. They are valid until the next call: a `Response` copies them.
 */
export function listAnswer(
  id: RpcId,
  { listing, server, isStateless }: { listing: ToolListing; server: Pick<McpServer, "info">; isStateless: boolean },
): string | Uint8Array<ArrayBuffer> {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  const headBytes = Buffer.byteLength(head);
  if (headBytes > HEAD_BYTES) return `${head}${listed(listing, server, isStateless)}}`;
  const era = isStateless ? "stateless" : "session";
  const known = prepared.get(listing) ?? { stateless: undefined, session: undefined };
  prepared.set(listing, known);
  const bytes = (known[era] ??= Buffer.from(`${" ".repeat(HEAD_BYTES)}${listed(listing, server, isStateless)}}`));
  const from = HEAD_BYTES - headBytes;
  bytes.write(head, from);
  return bytes.subarray(from);
}
