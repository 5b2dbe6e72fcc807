/** The uses of tools of one round: run side by side, their items one after the other. */
import { GatewayError, parseObject, type Usage } from "../../core/index.ts";
import type { AnswerEvent, ToolCallPart } from "../../dialects/index.ts";
import type { Sources } from "../citations/sources.ts";
import type { LoopCall } from "../loop-call.ts";
import type { AskedTool } from "../requests/asked-tools.ts";
import type { HostedFunction } from "../requests/functions.ts";
import type { LoopRequest } from "../requests/loop-request.ts";
import { useIdOf } from "../requests/messages-history.ts";
import type { CallResult } from "../requests/round-dialect.ts";
import { GivenAddresses } from "../running/given-addresses.ts";
import { failedOutcome, type ToolOutcome } from "../running/tool-outcome.ts";
import { useTool } from "../running/web-tools.ts";
import type { AnswerJoiner } from "./answer-joiner.ts";
import { type BegunUse, useItems } from "./tool-items.ts";

interface UseRunnerOptions {
  call: LoopCall;
  request: LoopRequest;
  sources: Sources;
  joiner: AnswerJoiner;
  callId: string;
  /** The uses after which an answer pauses, or ends. */
  usesMax: number;
}

export interface RanUses {
  results: CallResult[];
  /** Whether the answer pauses before one of the uses. */
  isPaused: boolean;
  /** Why the answer ends: nothing is left to pay with. */
  unpaid: GatewayError | undefined;
}

/** A use under way. Its outcome never rejects. */
interface RunningUse {
  call: ToolCallPart;
  begun: BegunUse;
  outcome: Promise<ToolOutcome | { thrown: unknown }>;
  /** Whether its client sees nothing of it: a use beyond the limit of the request. */
  isHidden: boolean;
}

export class UseRunner {
  readonly #options: UseRunnerOptions;
  readonly #byTool = new Map<AskedTool, number>();
  #given: GivenAddresses | undefined;
  /** The uses so far, also those that failed. */
  count = 0;
  #searches = 0;
  /** Calls of one round have it in their ids: that way they are put together again when a client returns them. */
  #round = 0;

  constructor(options: UseRunnerOptions) {
    this.#options = options;
  }

  /** What the usage of the answer contains of the tools. */
  get counted(): Usage {
    return this.#searches === 0 ? {} : { webSearches: this.#searches };
  }

  /** `isResumed`: the answer before this one has ended with the calls. */
  async *run(calls: readonly ToolCallPart[], isResumed = false): AsyncGenerator<readonly AnswerEvent[], RanUses> {
    const { joiner, request } = this.#options;
    const items = useItems[request.dialect];
    this.#round += 1;
    const running: RunningUse[] = [];
    let paused: BegunUse | undefined;
    for (const call of calls) {
      if (this.#pausesNow) {
        paused = this.#begin(call, this.#functionOf(call));
        break;
      }
      running.push(this.#start(call, isResumed));
    }
    const results: CallResult[] = [];
    for (const { call, begun, outcome, isHidden } of running) {
      const block = isHidden || isResumed ? undefined : items.begun(begun);
      const opened = block && joiner.begin(block);
      if (opened !== undefined) yield opened.events;
      const ended = await outcome;
      if ("thrown" in ended) {
        const error = unpaidOf(ended.thrown);
        if (opened !== undefined)
          yield joiner.end(opened.index, items.ended(begun, failedOutcome("unavailable", begun.input)));
        return { results, isPaused: false, unpaid: error };
      }
      if (opened !== undefined) yield joiner.end(opened.index, items.ended(begun, ended));
      const result = isHidden ? undefined : items.result(begun, ended);
      if (result !== undefined) yield joiner.whole(result);
      this.#count(begun, ended);
      results.push({ callId: call.callId, text: ended.text, isError: ended.error !== undefined });
    }
    const open = paused && items.begun(paused);
    if (open !== undefined) yield joiner.whole(open);
    return { results, isPaused: paused !== undefined, unpaid: undefined };
  }

  /** Messages pauses after its uses, unless the request has a limit for all of them. */
  get #pausesNow(): boolean {
    const { request, usesMax } = this.#options;
    return request.dialect === "messages" && request.usesMax === undefined && this.count >= usesMax;
  }

  #start(call: ToolCallPart, isResumed: boolean): RunningUse {
    const called = this.#functionOf(call);
    const first = this.#begin(call, called);
    const begun = isResumed ? { ...first, id: useIdOf(call.callId) } : first;
    const uses = (this.#byTool.get(called.tool) ?? 0) + 1;
    const isBeyondAll = this.count >= this.#options.usesMax && this.#options.request.dialect !== "messages";
    const isBeyond = isBeyondAll || (called.tool.usesMax !== undefined && uses > called.tool.usesMax);
    this.count += 1;
    if (!isBeyond) this.#byTool.set(called.tool, uses);
    const outcome = isBeyond
      ? Promise.resolve(failedOutcome("max_uses_exceeded", begun.input))
      : this.#use(call, called, begun.id).catch((thrown: unknown) => ({ thrown }));
    return { call, begun, outcome, isHidden: isBeyondAll };
  }

  #use(call: ToolCallPart, called: HostedFunction, id: string): Promise<ToolOutcome> {
    const { call: loopCall, sources } = this.#options;
    return useTool(loopCall.pages, {
      called,
      arguments: call.arguments,
      requestOf: (body) => loopCall.partOf(body),
      sources,
      given: this.#givenAddresses(),
      nonce: id,
    });
  }

  #begin(call: ToolCallPart, { action, tool }: HostedFunction): BegunUse {
    const { callId, request } = this.#options;
    const input = parseObject(call.arguments) ?? {};
    return { id: `${callId}_${this.#round}_${this.count}`, action, tool, input, showsSources: request.showsSources };
  }

  #functionOf({ name }: ToolCallPart): HostedFunction {
    const called = this.#options.request.functions.get(name);
    if (called === undefined) throw new Error(`the function ${name} is the client's`);
    return called;
  }

  /** Those of the request are only read if a tool is used. */
  #givenAddresses(): GivenAddresses {
    const known = this.#given ?? new GivenAddresses();
    if (this.#given === undefined) known.add(this.#options.request.givenTexts());
    this.#given = known;
    return known;
  }

  #count({ action }: BegunUse, { counts, cost }: ToolOutcome): void {
    this.#options.call.spent += cost;
    if (counts && action === "web_search") this.#searches += 1;
  }
}

/** Throws for any other failure. */
function unpaidOf(thrown: unknown): GatewayError {
  const isUnpaid = thrown instanceof GatewayError && unpaid.has(thrown.code);
  if (!isUnpaid) throw thrown;
  return thrown;
}

/** The codes with which a call ends because nothing is left to pay with. */
export const unpaid: ReadonlySet<string> = new Set(["insufficient_credits", "max_credits_exceeded"]);
