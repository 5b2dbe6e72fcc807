/** Requests about one file of the caller. All are free. */
import { GatewayError } from "../core/index.ts";
import { answerWith, askForReply, downloadUpstream, type FreeRequest } from "../sending/index.ts";
import type { FailedReply, WholeReply } from "../sending/index.ts";
import { chooseProvider, type FileProvider } from "./choose-provider.ts";
import type { FileDependencies, OneFileCall } from "./dependencies.ts";
import { namedProvider, queryWithout } from "./named-provider.ts";
import { type FileKeys, findFile } from "./owned-file.ts";

const NOT_FOUND = 404;

/** The metadata of a file, as its upstream sends it. */
export async function getFile(deps: FileDependencies, call: OneFileCall): Promise<Response> {
  const chosen = chooseProvider(deps, namedProvider(call));
  const { reply, question } = await ask(deps, call, chosen, "GET");
  if (reply.kind === "whole" && reply.answers[0].answer["id"] !== call.id) {
    throw new GatewayError("upstream_invalid_answer", "The upstream answered with another file.");
  }
  return answerWith(reply, question);
}

/** The bytes of a file, or a range of them. */
export async function downloadFile(deps: FileDependencies, call: OneFileCall): Promise<Response> {
  const { route, files } = chooseProvider(deps, namedProvider(call));
  const { download } = files;
  const { keys } = await findFile(deps, call, { route, id: call.id, param: "file_id" });
  if (download === undefined) {
    const message = `The provider ${route.prefix} has no such route: the file's metadata contains its download_url.`;
    throw new GatewayError("unsupported_operation", message);
  }
  const subpath = `/${encodeURIComponent(call.id)}/content${queryWithout(call)}`;
  const question: FreeRequest = { target: { route, operation: download }, method: "GET", subpath };
  return withFirstKey(keys, (pinnedKeyId) => downloadUpstream(deps.asking, call.request, { ...question, pinnedKeyId }));
}

/**
 * Deletes a file, and its record only after the upstream has deleted it: a failure can be repeated. A file that the
 * upstream no longer has counts as deleted.
 */
export async function deleteFile(deps: FileDependencies, call: OneFileCall): Promise<Response> {
  const chosen = chooseProvider(deps, namedProvider(call));
  const { reply, question, isRecorded } = await ask(deps, call, chosen, "DELETE");
  const isGone = reply.status === NOT_FOUND && isRecorded;
  if (reply.kind === "failed" && !isGone) return answerWith(reply, question);
  if (reply.kind === "whole" && reply.answers[0].answer["deleted"] === false) return answerWith(reply, question);
  const { prefix } = chosen.route;
  await deps.store.remove(prefix, call.id);
  const { requestId, principal } = call;
  deps.logger.info(
    { request_id: requestId, user: principal.user, token_id: principal.tokenId, provider: prefix },
    "file deleted",
  );
  return Response.json(chosen.files.deleted(call.id));
}

async function ask(
  deps: FileDependencies,
  call: OneFileCall,
  { route, files }: FileProvider,
  method: "GET" | "DELETE",
): Promise<{ reply: WholeReply | FailedReply; question: FreeRequest; isRecorded: boolean }> {
  const { keys, isRecorded } = await findFile(deps, call, { route, id: call.id, param: "file_id" });
  const subpath = `/${encodeURIComponent(call.id)}${queryWithout(call)}`;
  const question: FreeRequest = { target: { route, operation: files.operation }, method, subpath };
  const reply = await withFirstKey(keys, (pinnedKeyId) =>
    askForReply(deps.asking, call.request, { ...question, pinnedKeyId }),
  );
  return { reply, question, isRecorded };
}

/** The answer of the first key that knows the file, or else of the last one. */
async function withFirstKey<Answer extends { readonly status: number }>(
  [first, ...others]: FileKeys,
  asking: (keyId: string | undefined) => Promise<Answer>,
): Promise<Answer> {
  let answer = await asking(first);
  for (const keyId of others) {
    if (answer.status !== NOT_FOUND) break;
    answer = await asking(keyId);
  }
  return answer;
}
