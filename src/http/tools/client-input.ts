/**
 * Requests that servers interrupt with questions to the client. One of 2025 answers on the stream of its request. One of 2026-07-28 gets
 * the questions as its result and makes the request again, with a state that is sealed on its way out and opened on its way in. It is
 * that of a server of 2026-07-28, or names the request that a server of 2025 has open.
 */
import { GatewayError, type JsonObject, objectOf, stringOf } from "../../core/index.ts";
import type { ClientInput, ServerLog } from "../../mcp/index.ts";
import {
  type AskedCall,
  type CallEnd,
  type CallOwner,
  isQuestion,
  type InterruptedCalls,
  type RequestStates,
  type CallStep,
} from "../../tools/index.ts";

export interface InterruptibleRequest {
  /** The user, and whatever distinguishes the request from others of theirs. */
  owner: readonly string[];
  input: ClientInput | undefined;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
  onProgress?: ((params: JsonObject) => void) | undefined;
  log?: ServerLog | undefined;
}

/** How the request is made: by a client that takes part as given, as long as the signal is not aborted. */
type Run = (given: Omit<InterruptibleRequest, "owner">) => Promise<CallEnd>;

/** The result of a request, which may be questions. Rejects as `run` does, and with -32602 for a state of another request. */
export async function answeredInRounds(
  { requestStates: states, interruptedCalls }: { requestStates: RequestStates; interruptedCalls: InterruptedCalls },
  { owner, input, signal, onProgress, log }: InterruptibleRequest,
  run: Run,
): Promise<CallEnd> {
  if (input === undefined || !input.takesQuestions || !states.canSeal) {
    return run({ input, signal, onProgress, log });
  }
  const named: CallOwner = { user: owner[0] ?? "", key: JSON.stringify(owner) };
  const state = input.state === undefined ? {} : stateIn(states.open(input.state, owner));
  const attendance = { signal, onProgress, log };
  const step =
    state.call === undefined
      ? await interruptedCalls.begin(
          named,
          (running) => run({ ...running, input: { ...input, state: state.own, ask: running.ask } }),
          attendance,
        )
      : await interruptedCalls.resume(state.call, named, input.responses ?? {}, attendance);
  return endOf(step, (text) => states.seal(text, owner));
}

function endOf(step: CallStep, seal: (text: string) => string): CallEnd {
  if ("questions" in step) {
    const requestState = seal(JSON.stringify({ call: { ...step.call } }));
    return { result: { resultType: "input_required", inputRequests: step.questions, requestState } };
  }
  const { result } = step.end;
  const { requestState } = result;
  if (!isQuestion(result) || typeof requestState !== "string") return step.end;
  return { ...step.end, result: { ...result, requestState: seal(JSON.stringify({ own: requestState })) } };
}

/** The server's own state, or the request that is open. */
function stateIn(text: string): { own?: string | undefined; call?: AskedCall | undefined } {
  const { own, call } = objectOf(JSON.parse(text)) ?? {};
  if (typeof own === "string") return { own };
  const named = objectOf(call);
  if (named === undefined) throw new GatewayError("internal_error", "A sealed state is none.");
  const { process, id, askedAt } = named;
  return { call: { process: stringOf(process), id: stringOf(id), askedAt: Number(askedAt) } };
}
