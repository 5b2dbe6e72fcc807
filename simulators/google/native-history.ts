import { badValue, type Problem } from "../shared/check.ts";
import { asObject, isGiven, isObject, type JsonObject } from "../shared/json.ts";
import { first } from "../shared/shape.ts";
import { listIn } from "./native-body.ts";
import { isOlder } from "./native-options.ts";
import { isGenuine, isSentinel, missing } from "./signatures.ts";

interface Turn {
  readonly role: string;
  readonly parts: readonly JsonObject[];
}

/** The order of calls and results, and the signatures of the newest turn. */
export function checkHistory(body: JsonObject, model: string): Problem | null {
  const turns = listIn(body["contents"])
    .map(asObject)
    .map(({ role, parts }) => ({ role: role === "model" ? "model" : "user", parts: listIn(parts).map(asObject) }));
  const start = turns.findLastIndex(({ role, parts }) => role === "user" && !parts.every(isResult)) + 1;
  const last = turns.at(-1);
  if (last?.role === "model" && !isOlder(model)) {
    return badValue("contents", "Please ensure that the last content is from the user");
  }
  return first(turns.entries(), ([index, turn]) => {
    const field = `contents[${index}]`;
    return (
      checkOrder(turn, { before: turns[index - 1], after: turns[index + 1], field }) ??
      checkSignatures(turn, { field, isRequired: !isOlder(model) && index >= start })
    );
  });
}

const isResult = (part: JsonObject): boolean => isObject(part["functionResponse"]);
const isCall = (part: JsonObject): boolean => isObject(part["functionCall"]);

function checkOrder(
  { role, parts }: Turn,
  { before, after, field }: { before: Turn | undefined; after: Turn | undefined; field: string },
): Problem | null {
  const calls = parts.filter(isCall).length;
  const results = parts.filter(isResult).length;
  if (calls > 0 && role !== "model") return badValue(field, "function calls are the model's");
  if (results > 0 && role !== "user") return badValue(field, "function responses are not the model's");
  if (calls > 0 && before?.role !== "user") {
    return badValue(
      field,
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    );
  }
  const answered = after?.parts.filter(isResult).length ?? 0;
  if (calls > 0 && after !== undefined && answered !== calls) {
    return badValue(
      field,
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
  }
  if (results > 0 && !(before?.parts.some(isCall) ?? false)) {
    return badValue(field, "Please ensure that function response turn comes immediately after a function call turn.");
  }
  return null;
}

/** The first call of a step has the signature; one that is given anywhere must be ours. */
function checkSignatures(
  { parts }: Turn,
  { field, isRequired }: { field: string; isRequired: boolean },
): Problem | null {
  const forged = parts.find(({ thoughtSignature: given }) => isGiven(given) && !isSentinel(given) && !isGenuine(given));
  if (forged !== undefined) return badValue(field, "Corrupted thought signature.");
  const call = parts.find(isCall);
  if (call === undefined || !isRequired || isGiven(call["thoughtSignature"])) return null;
  return badValue(field, `${missing} This is required for tools to work correctly.`);
}
