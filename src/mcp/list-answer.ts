import type { RpcId } from "./json-rpc.ts";
import { listed } from "./results.ts";
import type { McpServer, ToolListing } from "./server.ts";

/** Answers that are kept for each list: most clients number their requests from 0 or 1 on, and ask for the list early. */
const ANSWERS_MAX = 2;
const ANSWER_BYTES_MAX = 1024 * 1024;
const ID_CHARACTERS_MAX = 8;

interface Prepared {
  result: Uint8Array<ArrayBuffer>;
  /** By the ids of their requests. */
  answers: Map<string, Blob>;
}

/** Of each list for a client of 2026-07-28, or an older one. */
const prepared = new WeakMap<ToolListing, Map<boolean, Prepared>>();

/**
 * The answer to `tools/list`. A list may have hundreds of kilobytes, and many clients get the same one: its bytes are made once, and those of
 * an answer are shared by the requests with one id. A `Response` copies neither.
 */
export function listAnswer(
  id: RpcId,
  { listing, server, isStateless }: { listing: ToolListing; server: Pick<McpServer, "info">; isStateless: boolean },
): Blob {
  const known = prepared.get(listing) ?? new Map<boolean, Prepared>();
  prepared.set(listing, known);
  let own = known.get(isStateless);
  if (own === undefined) {
    own = { result: Buffer.from(`${listed(listing, server, isStateless)}}`), answers: new Map() };
    known.set(isStateless, own);
  }
  const { result, answers } = own;
  const idText = JSON.stringify(id);
  const kept = answers.get(idText);
  if (kept !== undefined) return kept;
  const answer = new Blob([`{"jsonrpc":"2.0","id":${idText},"result":`, result]);
  if (result.length <= ANSWER_BYTES_MAX && idText.length <= ID_CHARACTERS_MAX && answers.size < ANSWERS_MAX)
    answers.set(idText, answer);
  return answer;
}
