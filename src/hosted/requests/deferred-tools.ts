/** The tools that a request defers (`defer_loading`): its model sees one once a search has found it. */
import { GatewayError, type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import type { AskedTool, HostedDialect } from "./asked-tools.ts";
import type { HostedFunction, ServedFunction } from "./functions.ts";

interface Namespace {
  name: string;
  description: string;
}

export interface DeferredTool {
  /** By which the model calls it; of one in a namespace, its name there. */
  name: string;
  namespace: Namespace | undefined;
  description: string;
  /** JSON Schema of its arguments; empty for free text. */
  parameters: JsonObject;
  /** As the list of a round has it. */
  listed: JsonObject;
  /** As its client has written it; undefined for a tool of a server. */
  given: JsonObject | undefined;
  /** The function of a tool of a server. */
  served: ServedFunction | undefined;
}

/** The most of one request, as at Anthropic. */
const DEFERRED_MAX = 10_000;

export class ToolCatalog {
  readonly tools: readonly DeferredTool[];
  readonly #byKey: ReadonlyMap<string, DeferredTool>;
  readonly #loaded = new Set<DeferredTool>();

  /** Of several with one name, the first. Throws 422 for too many. */
  constructor(tools: readonly DeferredTool[]) {
    if (tools.length > DEFERRED_MAX) {
      const message = `tools: ${tools.length} tools are deferred; ${DEFERRED_MAX} are permitted.`;
      throw new GatewayError("validation_failed", message, { param: "tools" });
    }
    const byKey = new Map<string, DeferredTool>();
    for (const tool of tools) {
      const key = keyOf(tool.name, tool.namespace?.name);
      if (!byKey.has(key)) byKey.set(key, tool);
    }
    this.#byKey = byKey;
    this.tools = [...byKey.values()];
  }

  /** The lists' entries of the tools that the model sees besides those of the request, in the order in which they were loaded. */
  get loaded(): JsonObject[] {
    return [...this.#loaded].map(({ listed }) => listed);
  }

  load(tools: readonly DeferredTool[]): void {
    for (const tool of tools) this.#loaded.add(tool);
  }

  /** Loads a tool by its name, if it is deferred. */
  loadNamed(name: unknown, namespace?: unknown): void {
    const tool = this.#byKey.get(keyOf(name, namespace));
    if (tool !== undefined) this.#loaded.add(tool);
  }
}

function keyOf(name: unknown, namespace: unknown): string {
  return JSON.stringify([namespace ?? null, name]);
}

/** Who searches among the deferred tools of a request; undefined for nobody, as the request has no search. */
type Searcher = "gateway" | "provider" | "left" | undefined;

/** How a request's tools are shown in the lists of its rounds. */
export interface Deferral {
  catalog: ToolCatalog | undefined;
  /** One of the client's own tools. */
  shown: (tool: JsonObject) => readonly JsonObject[];
  /** A function of the gateway's; `written`: in its dialect. */
  shownFunction: (called: HostedFunction, written: JsonObject) => readonly JsonObject[];
}

interface Deferring {
  dialect: HostedDialect;
  tools: readonly JsonObject[];
  functions: readonly HostedFunction[];
  run: readonly AskedTool[];
  left: readonly AskedTool[];
  /** Writes a function in the dialect. */
  write: (called: HostedFunction) => JsonObject;
  /** Whether its upstream speaks the client's dialect. */
  isOwnDialect: boolean;
}

/** Throws 422 for too many deferred tools. */
export function deferralOf(deferring: Deferring): Deferral {
  const searcher = searcherOf(deferring);
  if (searcher === "gateway") return searched(deferring);
  const isKept = searcher === "provider";
  return {
    catalog: undefined,
    shown: (tool) => [searcher === "left" ? withoutDeferral(tool) : tool],
    shownFunction: (called, written) => [
      isKept && isDeferredFunction(called) ? { ...written, defer_loading: true } : written,
    ],
  };
}

function searcherOf({ tools, run, left }: Deferring): Searcher {
  const searches = ({ kind }: AskedTool): boolean => kind === "tool_search";
  if (run.some(searches)) return "gateway";
  if (left.some(searches)) return "left";
  return tools.some(({ type, execution }) => stringOf(type).startsWith("tool_search") && execution !== "client")
    ? "provider"
    : undefined;
}

function searched({ dialect, tools, functions, write, isOwnDialect }: Deferring): Deferral {
  const callers = tools.flatMap((tool) => deferredIn(dialect, tool));
  const shownNames = new Set(
    tools.flatMap((tool) => (isDeferred(dialect, tool) ? [] : [membersOf(dialect, tool)?.["name"]])),
  );
  const catalog = new ToolCatalog([
    ...callers.filter(({ name, namespace }) => namespace !== undefined || !shownNames.has(name)),
    ...functions.flatMap((called) => deferredFunction(called, write)),
  ]);
  const ambiguous = isOwnDialect ? new Set<unknown>() : namesTwice(tools);
  return {
    catalog,
    shown(tool) {
      if (tool["type"] !== "namespace") return isDeferred(dialect, tool) && !ambiguous.has(tool["name"]) ? [] : [tool];
      const inner = objectsOf(tool["tools"]).filter((one) => !isDeferred(dialect, one) || ambiguous.has(one["name"]));
      return inner.length === 0 ? [] : [{ ...tool, tools: inner }];
    },
    shownFunction: (called, written) => (isDeferredFunction(called) ? [] : [written]),
  };
}

function isDeferredFunction(called: HostedFunction): called is ServedFunction {
  return called.family === "served" && called.served.isDeferred;
}

function deferredFunction(called: HostedFunction, write: Deferring["write"]): DeferredTool[] {
  if (!isDeferredFunction(called)) return [];
  const { name, served } = called;
  const { description, parameters } = served;
  return [
    { name, namespace: undefined, description, parameters, listed: write(called), given: undefined, served: called },
  ];
}

function deferredIn(dialect: HostedDialect, tool: JsonObject): DeferredTool[] {
  if (tool["type"] !== "namespace") return isDeferred(dialect, tool) ? [readDeferred(dialect, tool, undefined)] : [];
  const namespace = { name: stringOf(tool["name"]), description: stringOf(tool["description"]) };
  const inner = objectsOf(tool["tools"]).filter((one) => isDeferred(dialect, one));
  return inner.map((one) => readDeferred(dialect, one, namespace));
}

function readDeferred(dialect: HostedDialect, tool: JsonObject, namespace: Namespace | undefined): DeferredTool {
  const members = membersOf(dialect, tool) ?? {};
  const listed = withoutDeferral(tool);
  return {
    name: stringOf(members["name"]),
    namespace,
    description: stringOf(members["description"]),
    parameters: objectOf(members["parameters"] ?? members["input_schema"]) ?? {},
    listed: namespace === undefined ? listed : { type: "namespace", ...namespace, tools: [listed] },
    given: tool,
    served: undefined,
  };
}

/** The members of a function, or of a tool that takes free text; undefined for any other tool. */
function membersOf(dialect: HostedDialect, tool: JsonObject): JsonObject | undefined {
  const { type } = tool;
  if (dialect === "chat") return objectOf(tool["function"] ?? tool["custom"]);
  if (dialect === "messages") return type == null || type === "custom" ? tool : undefined;
  return type === "function" || type === "custom" ? tool : undefined;
}

function isDeferred(dialect: HostedDialect, tool: JsonObject): boolean {
  const members = membersOf(dialect, tool);
  return members !== undefined && (tool["defer_loading"] === true || members["defer_loading"] === true);
}

/** The tool, and those in it, without the mark of a deferred one. */
function withoutDeferral(tool: JsonObject): JsonObject {
  const { defer_loading: _, ...rest } = tool;
  const inner = rest["type"] === "namespace" ? { tools: objectsOf(rest["tools"]).map(withoutDeferral) } : {};
  const own = objectOf(rest["function"]);
  return { ...rest, ...inner, ...(own !== undefined && { function: withoutDeferral(own) }) };
}

/**
 * Names that several tools have. Upstreams without namespaces get other names for those, which must not change when one of them is
 * loaded: they stay in the list, marked as deferred.
 */
function namesTwice(tools: readonly JsonObject[]): ReadonlySet<unknown> {
  const [once, twice] = [new Set<unknown>(), new Set<unknown>()];
  for (const tool of tools) {
    const own =
      tool["type"] === "namespace" ? listOf(tool["tools"]).map((one) => objectOf(one)?.["name"]) : [tool["name"]];
    for (const name of own) (once.has(name) ? twice : once).add(name);
  }
  return twice;
}
