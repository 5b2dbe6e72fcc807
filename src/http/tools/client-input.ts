/** The state of a request that goes on after a server has asked the client: sealed on its way out, opened on its way in. */
import type { JsonObject } from "../../core/index.ts";
import type { ClientInput } from "../../mcp/index.ts";
import { isQuestion, type RequestStates } from "../../tools/index.ts";

/** Throws -32602 for a state of another owner. */
export function openedInput(
  states: RequestStates,
  input: ClientInput | undefined,
  owner: readonly string[],
): ClientInput | undefined {
  return input?.state === undefined ? input : { ...input, state: states.open(input.state, owner) };
}

/** A result that is none yet contains the state, which only the owner may return. */
export function sealedResult(states: RequestStates, result: JsonObject, owner: readonly string[]): JsonObject {
  const { requestState } = result;
  if (!isQuestion(result) || typeof requestState !== "string") return result;
  return { ...result, requestState: states.seal(requestState, owner) };
}
