/** How the tools of a request that defers some are shown in the lists of its rounds. */
import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import type { AskedTool, HostedDialect } from "./asked-tools.ts";
import { type DeferredTool, type Namespace, ToolCatalog } from "./deferred-tools.ts";
import type { HostedFunction, ServedFunction } from "./functions.ts";

/** Who searches among the deferred tools of a request; undefined for nobody, as the request has no search. */
type Searcher = "gateway" | "provider" | "left" | undefined;

export interface Deferral {
  /** The tools that searches may find; undefined if the gateway searches for none. */
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
  if (run.some(isSearch)) return "gateway";
  if (left.some(isSearch)) return "left";
  return tools.some(({ type, execution }) => stringOf(type).startsWith("tool_search") && execution !== "client")
    ? "provider"
    : undefined;
}

function isSearch({ kind }: AskedTool): boolean {
  return kind === "tool_search";
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
  const ambiguous = isOwnDialect || dialect !== "responses" ? new Set<unknown>() : namesTwice(tools);
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
  const { name, server, served: tool } = called;
  const { description, parameters } = tool;
  const served = { label: server.label, name: tool.name };
  return [{ name, namespace: undefined, description, parameters, listed: write(called), given: undefined, served }];
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
