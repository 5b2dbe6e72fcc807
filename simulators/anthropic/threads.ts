import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import type { Call, ErrorAnswer } from "../shared/types.ts";
import { detailedError } from "./errors.ts";

/** Taken from the thread when it goes on; a request that repeats them is refused. */
const heldMembers = ["system", "tools"];

/** Members that a thread cannot be combined with. */
const unsupportedMembers = ["context_management", "fallbacks"];

/** The whole request, including its thread's content, or the reason why it cannot continue. */
export function resumeThread(
  call: Call,
  body: JsonObject,
): { readonly body: JsonObject } | { readonly error: ErrorAnswer } {
  const thread = asObject(body["thread"]);
  if (!isGiven(body["thread"])) return { body };
  const unsupported = unsupportedMembers.filter((member) => isGiven(body[member]));
  if (unsupported.length > 0) {
    const details = { error_code: "thread_unsupported_request", unsupported };
    return { error: detailedError(400, `thread: cannot be combined with ${unsupported.join(", ")}`, details) };
  }
  return thread["type"] === "continue" ? goOn(call, body, String(thread["previous_message_id"])) : { body };
}

function goOn(call: Call, body: JsonObject, id: string): ReturnType<typeof resumeThread> {
  const held = call.kept.get(id);
  if (held === undefined) {
    const details = { error_code: "thread_not_found" };
    return { error: detailedError(404, `thread: no state was found for ${id}`, details) };
  }
  if (held.body["continued"] === true) {
    const details = { error_code: "thread_already_continued" };
    return { error: detailedError(400, `thread: ${id} has already been continued`, details) };
  }
  const repeated = heldMembers.find((member) => isGiven(body[member]));
  if (repeated !== undefined) {
    const details = { error_code: "thread_fingerprint_mismatch" };
    return { error: detailedError(400, `thread: ${repeated} is taken from the thread`, details) };
  }
  call.kept.keep({ ...held, body: { ...held.body, continued: true } });
  const messages = [...held.input, ...asArray(body["messages"])];
  return { body: { ...body, ...asObject(held.body["members"]), messages } };
}

/** Stores the conversation under the id of its last answer, if the request asked for a thread. */
export function keepThread(call: Call, body: JsonObject, message: JsonObject): void {
  if (!isGiven(body["thread"])) return;
  const given = heldMembers.filter((member) => isGiven(body[member])).map((member) => [member, body[member]] as const);
  const answer = { role: "assistant", content: message["content"] };
  call.kept.keep({
    body: { id: message["id"], members: Object.fromEntries(given) },
    input: [...asArray(body["messages"]).map(asObject), answer],
  });
}
