/** A request with hosted tools that the gateway runs: the bodies of its rounds. */
import { GatewayError, type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import { Sources } from "../citations/sources.ts";
import type { ReadyTool } from "../running/configured-tools.ts";
import type { FoundServer } from "../running/served-tools.ts";
import type { ResultSeal } from "../running/sealed-results.ts";
import { type AskedTool, type HostedDialect, withoutTools } from "./asked-tools.ts";
import { type AskedServer, withoutServers } from "./asked-servers.ts";
import { chatRounds } from "./dialects/chat-rounds.ts";
import { type Deferral, deferralOf } from "./deferral.ts";
import type { ToolCatalog } from "./deferred-tools.ts";
import { lastPictures } from "./pictures.ts";
import { definitionOf, FunctionIndex, functionsOf, type HostedFunction } from "./functions.ts";
import { loadKnown } from "./loaded-tools.ts";
import { type PendingUse, readHistory } from "./messages-history.ts";
import { messagesRounds } from "./dialects/messages-rounds.ts";
import { readItems } from "./responses-history.ts";
import { responsesRounds } from "./dialects/responses-rounds.ts";
import type { RoundDialect, RoundTurn } from "./dialects/round-dialect.ts";

const dialects: Readonly<Record<HostedDialect, RoundDialect>> = {
  chat: chatRounds,
  messages: messagesRounds,
  responses: responsesRounds,
};

/** The hosted tools of a request, by who runs them. */
export interface DecidedTools {
  /** Those that the gateway runs. */
  run: readonly AskedTool[];
  /** Those that nobody runs. */
  left: readonly AskedTool[];
  /** Servers of this gateway. */
  servers: readonly AskedServer[];
}

/** The same, with the tools of servers. */
interface ReadyTools extends DecidedTools {
  run: readonly ReadyTool[];
  servers: readonly FoundServer[];
  /** Of the results that its user gets. */
  seal: ResultSeal;
  /** Whether the upstream takes items of its own tools. */
  keepsNative: boolean;
}

interface Listing {
  functions: readonly HostedFunction[];
  /** The list of the request. */
  tools: readonly JsonObject[];
  ready: ReadyTools;
  deferral: Deferral;
}

interface RoundOptions {
  turns: readonly RoundTurn[];
  /** Whether its model may call no tool any more. */
  isLast: boolean;
  /** The output that the limit of the whole answer leaves; undefined without one. */
  tokensLeft: number | undefined;
}

export class LoopRequest {
  readonly dialect: HostedDialect;
  readonly rounds: RoundDialect;
  /** By their names. */
  readonly functions: ReadonlyMap<string, HostedFunction>;
  /** The most uses of all tools together; undefined without such a limit. */
  readonly usesMax: number | undefined;
  /** The limit of the output of the whole answer. */
  readonly tokensMax: number | undefined;
  /** The parts of items that the client asks for. */
  readonly includes: ReadonlySet<unknown>;
  readonly servers: readonly FoundServer[];
  /** The pages that the messages contain, and those that the loop finds. */
  readonly sources = new Sources();
  readonly seal: ResultSeal;
  /** The uses of tools that the answer begins with: the one before has paused. */
  readonly pending: readonly PendingUse[];
  /** The tools that searches may find; undefined if the gateway searches for none. */
  readonly catalog: ToolCatalog | undefined;
  readonly #body: JsonObject;
  readonly #given: unknown[];
  /** Of Responses: as the client has sent them. */
  readonly #items: unknown;

  /** `asked`: the client's body, in which earlier rounds have been put. Throws 422 for several choices. */
  constructor(dialect: HostedDialect, asked: JsonObject, ready: ReadyTools) {
    const { run, servers } = ready;
    if (dialect === "chat" && typeof asked["n"] === "number" && asked["n"] > 1) {
      throw new GatewayError("validation_failed", "n: with tools that the gateway runs there is one answer.", {
        param: "n",
      });
    }
    this.dialect = dialect;
    this.rounds = dialects[dialect];
    const tools = listOf(asked["tools"]).map((tool) => objectOf(tool) ?? {});
    const places = new Set(run.map(({ index }) => index));
    const taken = new Set(tools.flatMap((tool, index) => (places.has(index) ? [] : (this.rounds.nameOf(tool) ?? []))));
    const functions = functionsOf(dialect, { tools: run, servers }, taken);
    this.servers = servers;
    this.seal = ready.seal;
    this.functions = new Map(functions.map((each) => [each.name, each]));
    const uses = asked["max_tool_calls"];
    this.usesMax = typeof uses === "number" ? uses : undefined;
    this.includes = new Set(listOf(asked["include"]));
    this.tokensMax = this.rounds.limitIn(asked)?.tokens;
    const deferral = deferralOf({
      ...ready,
      dialect,
      tools,
      functions,
      write: (called) => this.rounds.functionOf(definitionOf(called, tools)),
      isOwnDialect: ready.keepsNative,
    });
    this.catalog = deferral.catalog;
    const index = new FunctionIndex(functions);
    if (this.catalog !== undefined) loadKnown(this.catalog, dialect, { body: asked, functions: index });
    const { body, pending } = this.#withHistory(
      this.#withFunctions(asked, { functions, tools, ready, deferral }),
      index,
      ready.keepsNative,
    );
    this.pending = pending;
    this.#body = body;
    this.#items = asked["input"];
    this.#given = this.rounds.givenTexts(asked);
  }

  /** The body of a round. A forced choice of a tool counts for the first alone. */
  bodyOf({ turns, isLast, tokensLeft }: RoundOptions): JsonObject {
    const { tool_choice: choice, ...rest } = this.#listing;
    const isFree = choice === undefined || (turns.length > 0 && this.rounds.isForced(choice));
    const chosen = isLast ? this.rounds.noChoice : isFree ? undefined : choice;
    const limit = tokensLeft === undefined ? undefined : this.rounds.limitIn(rest);
    const body = {
      ...rest,
      ...(chosen !== undefined && { tool_choice: chosen }),
      ...(limit !== undefined && { [limit.member]: tokensLeft }),
    };
    return turns.length === 0 ? body : this.rounds.withTurns(body, turns);
  }

  /** The body with the tools that have been loaded. */
  get #listing(): JsonObject {
    const loaded = this.catalog?.loaded ?? [];
    return loaded.length === 0 ? this.#body : { ...this.#body, tools: [...listOf(this.#body["tools"]), ...loaded] };
  }

  /** The last images of the messages: data URLs and addresses. */
  pictures(): readonly string[] {
    return this.dialect === "responses" ? lastPictures(this.#items) : [];
  }

  /** The texts that the model has not written itself. */
  givenTexts(): unknown[] {
    return this.#given;
  }

  /** The body with the earlier uses of these tools as calls of the functions. */
  #withHistory(
    body: JsonObject,
    functions: FunctionIndex,
    keepsNative: boolean,
  ): { body: JsonObject; pending: readonly PendingUse[] } {
    if (this.dialect === "chat") return { body, pending: [] };
    if (this.dialect === "responses") {
      const { input, pending } = readItems(body["input"], functions);
      return { body: { ...body, input }, pending };
    }
    const { sources, seal } = this;
    const options = { functions, sources, seal, keepsNative };
    const { messages, pending } = readHistory(objectsOf(body["messages"]), options);
    return { body: { ...body, messages }, pending };
  }

  #withFunctions(asked: JsonObject, { functions, tools: given, ready, deferral }: Listing): JsonObject {
    const replaced = [...ready.run, ...ready.left, ...ready.servers];
    const byOwner = Map.groupBy(functions, ownerOf);
    const ofOwner = (owner: unknown): JsonObject[] =>
      (byOwner.get(owner) ?? []).flatMap((each) =>
        deferral.shownFunction(each, this.rounds.functionOf(definitionOf(each, given))),
      );
    const byPlace = new Map(replaced.map((each) => [each.index, each]));
    const labels = new Set<unknown>(ready.servers.map(({ label }) => label));
    const listed = given.flatMap((tool, index) => {
      const owner = byPlace.get(index);
      return owner === undefined ? (isToolset(tool, labels) ? [] : deferral.shown(tool)) : ofOwner(owner);
    });
    const unlisted = replaced.filter(({ index }) => index === undefined).flatMap(ofOwner);
    const tools = [...listed, ...unlisted];
    const own = withoutServers(withoutTools(asked, [...ready.run, ...ready.left]), ready.servers);
    const { tools: _tools, tool_choice: _choice, ...rest } = own;
    const choice = tools.length === 0 ? undefined : this.#choiceOf(asked, functions);
    return {
      ...rest,
      ...(tools.length > 0 && { tools }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(this.dialect === "responses" && keptNowhere(asked, ready.run)),
      ...(this.dialect === "chat" && asked["stream"] === true && withUsage(asked)),
    };
  }

  /** The choice of the body, with functions in the place of the tools that it names. */
  #choiceOf(asked: JsonObject, functions: readonly HostedFunction[]): unknown {
    const { tool_choice: choice } = asked;
    const ofTools = functions.filter((each) => each.family !== "served");
    const named = (type: string | undefined): HostedFunction | undefined =>
      ofTools.find(({ tool }) => type !== undefined && (type === tool.type || type === nameIn(asked, tool)));
    const one = named(this.rounds.chosenTool(choice));
    if (one !== undefined) return this.rounds.choiceOf(one.name);
    const tools = objectOf(choice)?.["tools"];
    if (!Array.isArray(tools)) return choice;
    const swapped = tools.map((tool: unknown): unknown => {
      const own = named(stringOf(objectOf(tool)?.["type"]));
      return own === undefined ? tool : this.rounds.choiceOf(own.name);
    });
    return { ...objectOf(choice), tools: swapped };
  }
}

/** The members of `include` for items that the gateway may write in place of the upstream. */
const included: readonly (readonly [member: string, kind: AskedTool["kind"]])[] = [
  ["web_search_call.action.sources", "web_search"],
  ["code_interpreter_call.outputs", "code_interpreter"],
  ["file_search_call.results", "file_search"],
];

function ownerOf(called: HostedFunction): unknown {
  return called.family === "served" ? called.server : called.tool;
}

function isToolset(tool: unknown, labels: ReadonlySet<unknown>): boolean {
  const { type, mcp_server_name: name } = objectOf(tool) ?? {};
  return type === "mcp_toolset" && labels.has(name);
}

/** The name that a tool has in its request, which a choice in Messages has. */
function nameIn(asked: JsonObject, { index }: AskedTool): string | undefined {
  const tool = index === undefined ? undefined : objectOf(listOf(asked["tools"])[index]);
  return stringOf(tool?.["name"]) || undefined;
}

/** The usage of each round is needed for the sum, whether the client asks for that or not. */
function withUsage({ stream_options: options }: JsonObject): JsonObject {
  return { stream_options: { ...objectOf(options), include_usage: true } };
}

/** Only the whole answer is stored; the thoughts of its rounds must come with their seals then. */
function keptNowhere({ include }: JsonObject, run: readonly AskedTool[]): JsonObject {
  const sealed = "reasoning.encrypted_content";
  const kinds = new Set(run.map(({ kind }) => kind));
  const ours = new Set<unknown>(included.flatMap(([member, kind]) => (kinds.has(kind) ? [member] : [])));
  const asked = listOf(include).filter((each) => !ours.has(each) && each !== sealed);
  return { store: false, background: undefined, max_tool_calls: undefined, include: [...asked, sealed] };
}
