/** The uses of tools of one round: run side by side, their items one after the other. */
import { GatewayError, type JsonObject, type Nano, parseObject, type Usage } from "../../core/index.ts";
import type { AnswerEvent, ToolCallPart } from "../../dialects/index.ts";
import type { Sources } from "../citations/sources.ts";
import type { LoopCall } from "../loop-call.ts";
import type { AskedTool, ImageTool } from "../requests/asked-tools.ts";
import type { HostedFunction } from "../requests/functions.ts";
import type { LoopRequest } from "../requests/loop-request.ts";
import { type PendingUse, useIdOf } from "../requests/messages-history.ts";
import { dataUrl } from "../requests/pictures.ts";
import type { CallResult } from "../requests/dialects/round-dialect.ts";
import { GivenAddresses } from "../running/given-addresses.ts";
import { failedOutcome, type ToolOutcome } from "../running/tool-outcome.ts";
import { callConfigured } from "../running/configured-tools.ts";
import { Lanes } from "../running/lanes.ts";
import { searchTools } from "../running/search-tools.ts";
import { drawImage, type ImageUse } from "../running/image-tool.ts";
import { callServed } from "../running/served-tools.ts";
import { useTool } from "../running/web-tools.ts";
import type { AnswerJoiner } from "./answer-joiner.ts";
import type { BegunUse } from "./items/begun-use.ts";
import { itemsOf } from "./items/tool-items.ts";

/** The characters of answers and results after which no tool is used any more: all later rounds send them, and no model reads more. */
export const TURN_CHARACTERS_MAX = 3_000_000;

/** Searches among the tools of the request in one answer; further ones fail, and count as uses. */
const TOOL_SEARCHES_MAX = 10;

/** Uses of one round side by side; further ones begin when these have ended. */
const AT_ONCE = 8;

/** Images of one round side by side: each edit has all images of the conversation in memory, as bytes. */
const IMAGES_AT_ONCE = 2;

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
  /** Why the answer ends here: it pauses before a use, or its client has to approve one. */
  end: "pause" | "end" | undefined;
  /** Why the answer ends: nothing is left to pay with. */
  unpaid: GatewayError | undefined;
}

/** A use that is under way, or is begun by `use` when those before have ended. Its outcome never rejects. */
interface RunningUse {
  call: ToolCallPart;
  begun: BegunUse;
  outcome: Promise<ToolOutcome | { thrown: unknown }> | undefined;
  use: () => Promise<ToolOutcome | { thrown: unknown }>;
  /** Whether its client sees nothing of it: a use beyond the limit of the request. */
  isHidden: boolean;
  isResumed: boolean;
}

export class UseRunner {
  readonly #options: UseRunnerOptions;
  readonly #byTool = new Map<AskedTool, number>();
  #given: Promise<GivenAddresses> | undefined;
  /** The uses so far, also those that failed. */
  count = 0;
  #searches = 0;
  /** Those among tools, which are no uses up to `TOOL_SEARCHES_MAX`: after them a model still has to call what it has found. */
  #toolSearches = 0;
  /** They take the event loop, each in slices: side by side all their slices would pass before other callers have their turn. */
  readonly #searching = new Lanes(1);
  readonly #drawing = new Lanes(IMAGES_AT_ONCE);
  /** Whether an image has been paid for and is not there: the next one would be, too. */
  #isImageLost = false;
  /** Calls so far, of which each has a number of its own. */
  #calls = 0;
  /** The last image that was made, as a data URL. */
  #drawn: string | undefined;
  /** Of all results so far. */
  #characters = 0;
  /** Calls of one round have it in their ids: that way they are put together again when a client returns them. */
  #round = 0;

  constructor(options: UseRunnerOptions) {
    this.#options = options;
  }

  /** The part of the tools in the usage of the answer. */
  get counted(): Usage {
    return this.#searches === 0 ? {} : { webSearches: this.#searches };
  }

  /** `resumed`: the uses with which the answer before this one has ended, if the calls are those. */
  async *run(
    calls: readonly ToolCallPart[],
    resumed?: readonly PendingUse[],
  ): AsyncGenerator<readonly AnswerEvent[], RanUses> {
    this.#round += 1;
    const running: RunningUse[] = [];
    const asked: BegunUse[] = [];
    let paused: BegunUse | undefined;
    for (const [index, call] of calls.entries()) {
      const begun = this.#begin(call, resumed?.[index]);
      if (resumed === undefined && needsApproval(begun.called)) asked.push(begun);
      else if (this.#pausesNow) {
        paused = begun;
        break;
      } else
        running.push(this.#start(call, begun, { isResumed: resumed !== undefined, waits: running.length >= AT_ONCE }));
    }
    const results: CallResult[] = [];
    let unpaidUse: GatewayError | undefined;
    for (const each of running) {
      // Those side by side with one that can't be paid have their cost and their item.
      if (unpaidUse !== undefined && each.outcome === undefined) continue;
      const thrown = yield* this.#show(each, results);
      unpaidUse ??= thrown?.error;
    }
    if (unpaidUse !== undefined) return { results, end: undefined, unpaid: unpaidUse };
    yield* this.#close(asked, paused);
    const end = asked.length > 0 ? ("end" as const) : paused === undefined ? undefined : ("pause" as const);
    return { results, end, unpaid: undefined };
  }

  /** Waits for a use, and shows it. Returns why the answer ends, if it does. */
  async *#show(
    { call, begun, outcome, use, isHidden, isResumed }: RunningUse,
    results: CallResult[],
  ): AsyncGenerator<readonly AnswerEvent[], { error: GatewayError } | undefined> {
    const { joiner, request } = this.#options;
    const items = itemsOf(request.dialect, begun);
    // Of a paused one the block stands in the answer before.
    const block = isHidden || (isResumed && begun.approvalId === undefined) ? undefined : items.begun;
    const opened = block && joiner.begin(block);
    if (opened !== undefined) yield opened.events;
    const ended = await (outcome ?? use());
    if ("thrown" in ended) {
      const error = unpaidOf(ended.thrown);
      const failed = failedOutcome("unavailable", begun.input);
      if (opened !== undefined) yield joiner.end(opened.index, items.ended?.(failed));
      return { error };
    }
    if (opened !== undefined) yield joiner.end(opened.index, items.ended?.(ended));
    const result = isHidden ? undefined : items.result?.(ended);
    if (result !== undefined) yield joiner.whole(result);
    this.#count(begun, ended);
    request.catalog?.load(ended.found ?? []);
    this.#characters += ended.text.length;
    results.push({ callId: call.callId, text: ended.text, isError: ended.error !== undefined });
    return undefined;
  }

  /** The uses that the client has to approve, or that the next answer begins with. */
  *#close(asked: readonly BegunUse[], paused: BegunUse | undefined): Generator<readonly AnswerEvent[]> {
    const { joiner, request } = this.#options;
    const { dialect } = request;
    for (const use of asked) {
      const block = itemsOf(dialect, use).approval;
      if (block !== undefined) yield joiner.whole(block);
    }
    const open = paused && itemsOf(dialect, paused).begun;
    if (open !== undefined) yield joiner.whole(open);
  }

  /** Messages pauses after its uses, unless the request has a limit for all of them. */
  get #pausesNow(): boolean {
    const { request, usesMax } = this.#options;
    return request.dialect === "messages" && request.usesMax === undefined && this.count >= usesMax;
  }

  #start(
    call: ToolCallPart,
    begun: BegunUse,
    { isResumed, waits }: { isResumed: boolean; waits: boolean },
  ): RunningUse {
    const { called } = begun;
    const isFree = called.family === "tool-search" && this.#toolSearches < TOOL_SEARCHES_MAX;
    if (called.family === "tool-search") this.#toolSearches += 1;
    const isBeyondAll = !isFree && this.count >= this.#options.usesMax && this.#options.request.dialect !== "messages";
    const isBeyond = isBeyondAll || this.#isBeyondOwn(called) || (called.family === "tool-search" && !isFree);
    if (!isFree) this.count += 1;
    const use = (): ReturnType<RunningUse["use"]> =>
      isBeyond
        ? Promise.resolve(failedOutcome("max_uses_exceeded", begun.input))
        : this.#useUnlessEnded(begun).catch((thrown: unknown) => ({ thrown }));
    // Uses side by side would each have all that a limit of their costs leaves.
    const outcome = waits || this.#options.call.isBounded ? undefined : use();
    return { call, begun, outcome, use, isHidden: isBeyondAll, isResumed };
  }

  /** Whether the tool has been used as often as its request permits. Counts the use otherwise. */
  #isBeyondOwn(called: HostedFunction): boolean {
    if (called.family === "served") return false;
    const uses = (this.#byTool.get(called.tool) ?? 0) + 1;
    if (called.tool.usesMax !== undefined && uses > called.tool.usesMax) return true;
    this.#byTool.set(called.tool, uses);
    return false;
  }

  /** Rejects once the call has been ended: that a tool did not go on then is no result for the model. */
  async #useUnlessEnded(begun: BegunUse): Promise<ToolOutcome> {
    const { signal } = this.#options.call;
    signal.throwIfAborted();
    if (this.#characters >= TURN_CHARACTERS_MAX) return failedOutcome("max_uses_exceeded", begun.input);
    const outcome = this.#kept(await this.#use(begun));
    if (outcome.error !== undefined) signal.throwIfAborted();
    return outcome;
  }

  /** The outcome, or a failure if there is no memory for what the answer keeps of it. */
  #kept(outcome: ToolOutcome): ToolOutcome {
    const { keptCharacters = 0, input, cost } = outcome;
    try {
      // Itself, and the answer as a text.
      this.#options.call.memory.add(2 * keptCharacters);
      return outcome;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      return { ...failedOutcome("unavailable", input), cost };
    }
  }

  async #use({ called, arguments: text, id }: BegunUse): Promise<ToolOutcome> {
    const { call, request, sources } = this.#options;
    const common = { arguments: text, requestOf: (body: JsonObject) => call.partOf(body), nonce: id };
    if (called.family === "served") return callServed(call.served, { ...common, tool: called.served });
    if (called.family === "configured") {
      const paid = (cost: Nano): void => void (call.spent += cost);
      return callConfigured(call.served, { ...common, ...called, paid });
    }
    if (called.family === "tool-search")
      return this.#searching.run(
        () => searchTools({ tools: request.catalog?.tools ?? [], action: called.action, arguments: text }),
        call.signal,
      );
    if (called.family === "image") return this.#drawing.run(() => this.#draw(called.tool, common), call.signal);
    return useTool(call.pages, { ...common, called, sources, given: await this.#givenAddresses() });
  }

  async #draw(tool: ImageTool, use: Pick<ImageUse, "arguments" | "requestOf">): Promise<ToolOutcome> {
    const { call, request } = this.#options;
    if (this.#isImageLost) return failedOutcome("unavailable", parseObject(use.arguments) ?? {});
    const pictures = (): readonly string[] => (this.#drawn === undefined ? request.pictures() : [this.#drawn]);
    const outcome = await drawImage(call.served.own, { ...use, tool, pictures });
    if (outcome.image !== undefined) this.#drawn = dataUrl(outcome.image.data);
    else if (outcome.cost > 0n) this.#isImageLost = true;
    return outcome;
  }

  #begin(call: ToolCallPart, resumed: PendingUse | undefined): BegunUse {
    const { callId, request } = this.#options;
    const called = request.functions.get(call.name);
    if (called === undefined) throw new Error(`the function ${call.name} is the client's`);
    const { includes, seal } = request;
    const input = parseObject(call.arguments) ?? {};
    const id = resumed === undefined ? `${callId}_${this.#round}_${this.#calls}` : useIdOf(resumed.id);
    this.#calls += 1;
    return {
      id,
      called,
      input,
      arguments: call.arguments,
      includes,
      approvalId: resumed?.approvalId,
      seal: seal.seal,
    };
  }

  /** Those of the request are only read if a tool is used. */
  #givenAddresses(): Promise<GivenAddresses> {
    this.#given ??= givenIn(this.#options.request.givenTexts());
    return this.#given;
  }

  #count({ called }: BegunUse, { counts, cost }: ToolOutcome): void {
    this.#options.call.spent += cost;
    if (counts && called.family === "web" && called.action === "web_search") this.#searches += 1;
  }
}

async function givenIn(texts: unknown): Promise<GivenAddresses> {
  const given = new GivenAddresses();
  await given.add(texts);
  return given;
}

function needsApproval(called: HostedFunction): boolean {
  return called.family === "served" && called.served.needsApproval;
}

/** Throws for any other failure. */
function unpaidOf(thrown: unknown): GatewayError {
  if (!(thrown instanceof GatewayError) || !isUnpaid(thrown)) throw thrown;
  return thrown;
}

/** The codes with which a call ends because nothing is left to pay with. */
export const unpaid = ["insufficient_credits", "max_credits_exceeded"] as const;

export function isUnpaid({ code }: GatewayError): boolean {
  return unpaid.some((each) => each === code);
}
