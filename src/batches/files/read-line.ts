/** One line of a batch's input becomes a call of a route. */
import { memberIn } from "../../bodies/index.ts";
import { type JsonObject, objectOf } from "../../core/index.ts";
import type { BatchKind, InputError } from "../store.ts";

/** Characters of a `custom_id`. */
const CUSTOM_ID_CHARACTERS_MAX = 512;

/** As Anthropic permits them. */
const MESSAGE_ID = /^[\w-]{1,64}$/;

export interface BatchLine {
  customId: string;
  /** The call's body, as its bytes. */
  body: Uint8Array;
  model: string;
}

/** Why a line makes its whole batch fail, without its number. */
export type LineFault = Omit<InputError, "line">;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads one line. */
export function readLine(
  bytes: Uint8Array,
  { kind, endpoint }: { kind: BatchKind; endpoint: string },
): BatchLine | LineFault {
  let line: JsonObject | undefined;
  try {
    line = objectOf(JSON.parse(decoder.decode(bytes)));
  } catch {
    return fault("invalid_json_line", "This line is not parseable as valid JSON.", null);
  }
  if (line === undefined) return fault("invalid_json_line", "This line is no JSON object.", null);
  const { custom_id: customId } = line;
  if (typeof customId !== "string" || customId === "" || customId.length > CUSTOM_ID_CHARACTERS_MAX) {
    const message = `The custom_id must be a text of 1 to ${CUSTOM_ID_CHARACTERS_MAX} characters.`;
    return fault("invalid_custom_id", message, "custom_id");
  }
  if (kind === "messages") return messageLine(customId, { line, bytes });
  const { method = "POST", url = endpoint } = line;
  if (method !== "POST") return fault("invalid_method", "The method must be POST.", "method");
  if (url !== endpoint) return fault("invalid_url", `The url must be the batch's endpoint, ${endpoint}.`, "url");
  return callOf(customId, { line, bytes }, "body");
}

interface ParsedLine {
  line: JsonObject;
  bytes: Uint8Array;
}

function messageLine(customId: string, line: ParsedLine): BatchLine | LineFault {
  if (MESSAGE_ID.test(customId)) return callOf(customId, line, "params");
  return fault("invalid_custom_id", "The custom_id must have 1 to 64 letters, digits, _ and -.", "custom_id");
}

function callOf(customId: string, { line, bytes }: ParsedLine, member: string): BatchLine | LineFault {
  const call = objectOf(line[member]);
  if (call === undefined) return fault("invalid_request", `The ${member} must be an object.`, member);
  const body = memberIn(bytes, [member]);
  if (body === undefined) return fault("invalid_json_line", "This line has too many members, or is too deep.", null);
  const { model, stream, background } = call;
  if (typeof model !== "string" || model === "") {
    return fault("invalid_request", "The model must be a text.", `${member}.model`);
  }
  if (stream === true || background === true) {
    const asked = stream === true ? "stream" : "background";
    return fault("invalid_request", `A line of a batch cannot have ${asked}: true.`, `${member}.${asked}`);
  }
  return { customId, body, model };
}

export const isFault = (read: BatchLine | LineFault): read is LineFault => "code" in read;

function fault(code: string, message: string, param: string | null): LineFault {
  return { code, message, param };
}
