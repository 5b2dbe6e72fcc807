/** The questions that a server may ask the client of a request, and their answers. */
import { CallAborter, type JsonObject, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import {
  type ClientInput,
  type ClientQuestion,
  RpcError,
  rpcCodes,
  tasksExtension,
  uiExtension,
} from "../../mcp/index.ts";
import { cleanObject } from "../clean-result.ts";
import type { AskedClient } from "../client/session.ts";
import type { ServerError } from "../client/server-answer.ts";

/** Rounds of questions of one call. */
export const ROUNDS_MAX = 20;

const capabilityOf: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Whether a result is none yet: the server asks the client first. */
export function isQuestion(result: JsonObject): boolean {
  return result["resultType"] === "input_required";
}

/** Whether the client can be asked for everything that a result asks. */
export function mayAsk({ inputRequests, requestState }: JsonObject, input: ClientInput | undefined): boolean {
  const questions = Object.values(objectOf(inputRequests) ?? {});
  if (input === undefined || (questions.length === 0 && requestState === undefined)) return false;
  return questions.every((question) => isDeclared(objectOf(question) ?? {}, input));
}

/** Those of the questions, by their keys, that a client with these capabilities answers. */
export function askableIn(questions: JsonObject, capabilities: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(questions).filter(([, question]) => isDeclared(objectOf(question) ?? {}, { capabilities })),
  );
}

/** Whether the client has declared that it answers such a question. */
function isDeclared(question: JsonObject, { capabilities }: Pick<ClientInput, "capabilities">): boolean {
  const method = stringOf(question["method"]);
  const capability = Object.hasOwn(capabilityOf, method) ? capabilityOf[method] : undefined;
  const declared = capability === undefined ? undefined : objectOf(capabilities[capability]);
  if (declared === undefined) return false;
  const params = objectOf(question["params"]) ?? {};
  if (capability === "sampling") return params["tools"] === undefined || objectOf(declared["tools"]) !== undefined;
  if (capability === "roots") return true;
  const has = (mode: string): boolean => objectOf(declared[mode]) !== undefined;
  // Without any mode, it is a form.
  return params["mode"] === "url" ? has("url") : has("form") || !has("url");
}

/** Asks the client of a request for a server of 2025. Undefined for a client that takes no questions. */
export function askerFor(
  input: ClientInput | undefined,
  secrets: () => readonly string[],
): ((question: ClientQuestion) => Promise<JsonObject>) | undefined {
  const ask = input?.ask;
  if (input === undefined || ask === undefined) return undefined;
  return async ({ method, params, signal }) => {
    if (!isDeclared({ method, params }, input))
      throw new RpcError(rpcCodes.methodNotFound, "The client has no such method.");
    const { _meta: _, ...shown } = params;
    return ask({ method, params: cleanObject(shown, secrets()), signal });
  };
}

/** The client of a request, for a server of 2025. Undefined for one that takes no questions, or has declared none. */
export function askedClient(input: ClientInput | undefined, secrets: () => readonly string[]): AskedClient | undefined {
  const ask = askerFor(input, secrets);
  if (input === undefined || ask === undefined) return undefined;
  const { extensions: _, ...capabilities } = input.capabilities;
  return Object.keys(capabilities).length === 0 ? undefined : { client: input.client, capabilities, ask };
}

/** A client of 2025 answers the questions of a result on its stream: the input of the next request. Rejects with the client's refusal. */
export async function answeredBy(
  { inputRequests, requestState }: JsonObject,
  input: ClientInput,
  ask: (question: ClientQuestion) => Promise<JsonObject>,
): Promise<ClientInput> {
  const over = new CallAborter();
  const questions = Object.entries(objectOf(inputRequests) ?? {});
  try {
    const answers = await Promise.all(
      questions.map(async ([key, question]): Promise<[string, JsonObject]> => {
        const { method, params } = objectOf(question) ?? {};
        return [key, await ask({ method: stringOf(method), params: objectOf(params) ?? {}, signal: over })];
      }),
    );
    const state = typeof requestState === "string" ? requestState : undefined;
    return { ...input, responses: Object.fromEntries(answers), state };
  } finally {
    // If one is refused, the others are of no use.
    over.abort("over");
  }
}

/** The answers of a client, as members of a request. */
export function answersIn(input: ClientInput | undefined): JsonObject {
  return {
    ...(input?.responses !== undefined && { inputResponses: input.responses }),
    ...(input?.state !== undefined && { requestState: input.state }),
  };
}

/**
 * The refusal of a server that the client can do something about: questions to a client that takes them as a result, or an error for
 * the client. Undefined for every other one.
 */
export function refusalFor(
  { code, message, data }: ServerError,
  input: ClientInput | undefined,
  secrets: readonly string[],
): { result: JsonObject } | { error: RpcError } | undefined {
  if (input === undefined) return undefined;
  if (code === rpcCodes.urlRequired) {
    const asked = objectsOf(data?.["elicitations"]).map((params) => ({
      method: "elicitation/create",
      params: cleanObject(params, secrets),
    }));
    if (asked.length === 0 || !asked.every((each) => each.params["mode"] === "url" && isDeclared(each, input)))
      return undefined;
    if (input.takesQuestions) {
      const inputRequests = Object.fromEntries(asked.map((question, index) => [`url${index + 1}`, question]));
      return { result: { resultType: "input_required", inputRequests } };
    }
    return { error: new RpcError(code, message, { data: { elicitations: asked.map(({ params }) => params) } }) };
  }
  if (code !== rpcCodes.missingCapability || !input.takesQuestions) return undefined;
  const required = objectOf(data?.["requiredCapabilities"]) ?? {};
  if (!canDeclare(required, input)) return undefined;
  const requiredCapabilities = cleanObject(required, secrets);
  return { error: new RpcError(code, message, { status: 400, data: { requiredCapabilities } }) };
}

const passedExtensions: ReadonlySet<string> = new Set([tasksExtension, uiExtension]);

/** Whether the client has not declared what a server requires, and would be passed on if it had. */
function canDeclare(required: JsonObject, { capabilities }: ClientInput): boolean {
  const names = Object.keys(required);
  const passed = new Set([...Object.values(capabilityOf), "extensions"]);
  if (!names.every((name) => passed.has(name))) return false;
  if (!Object.keys(objectOf(required["extensions"]) ?? {}).every((name) => passedExtensions.has(name))) return false;
  return names.some((name) => {
    const declared = objectOf(capabilities[name]);
    return declared === undefined || Object.keys(objectOf(required[name]) ?? {}).some((part) => !(part in declared));
  });
}
