/** Tools that a request defers (`defer_loading`): its model gets them once a search of its history has loaded them. */
import { type JsonObject, listOf, objectOf } from "../../../core/index.ts";
import { loadedIn, toolsWithin } from "../tool-names.ts";

/** A tool of a list, with the place that an error names. */
export interface PlacedTool {
  tool: JsonObject;
  at: string;
  /** The name of its namespace; undefined for one beside those. */
  namespace: unknown;
}

/** The tools of a list; those in namespaces beside the others. */
export function placedTools(tools: readonly JsonObject[], at: string): PlacedTool[] {
  return tools.flatMap((tool, index): PlacedTool[] => {
    const place = `${at}.${index}`;
    if (tool["type"] !== "namespace") return [{ tool, at: place, namespace: undefined }];
    return toolsWithin(tool, place).map((inner) => ({ ...inner, namespace: tool["name"] }));
  });
}

const isDeferred = ({ tool }: PlacedTool): boolean => tool["defer_loading"] === true;

const isCallers = ({ tool: { type } }: PlacedTool): boolean => type === "function" || type === "custom";

interface Loading {
  /** Tools of the list that stay hidden where they stand. */
  hidden: ReadonlySet<PlacedTool>;
  /** Those that have been loaded, in that order; also of tools that the list does not have. */
  loaded: readonly PlacedTool[];
}

/**
 * What the history has loaded. A call loads its tool as a search does: the model knows it. In a list without any other tool nothing
 * could load the deferred ones, so that they are shown.
 */
export function loadingOf(listed: readonly PlacedTool[], input: unknown): Loading {
  const deferred = listed.filter(isDeferred);
  const results = placedTools(loadedIn(input), "input").filter(isCallers);
  if (deferred.length === 0 && results.length === 0) return { hidden: new Set(), loaded: [] };
  const hides = listed.some((one) => !isDeferred(one) && one.tool["type"] !== "tool_search");
  const shown = new Set((hides ? listed.filter((one) => !isDeferred(one)) : listed).map(keyOf));
  const byKey = new Map(deferred.map((one) => [keyOf(one), one]));
  const loaded = new Map<string, PlacedTool>();
  const load = (key: string, one: PlacedTool | undefined): void => {
    if (one !== undefined && !shown.has(key) && !loaded.has(key)) loaded.set(key, one);
  };
  for (const value of listOf(input)) {
    const item = objectOf(value) ?? {};
    const { type, name, namespace } = item;
    if (type === "function_call" || type === "custom_tool_call") {
      const key = keyOf({ tool: { name }, namespace });
      load(key, byKey.get(key));
    } else for (const one of placedTools(loadedIn([item]), "input").filter(isCallers)) load(keyOf(one), one);
  }
  return { hidden: new Set(hides ? deferred : []), loaded: [...loaded.values()] };
}

function keyOf({ tool: { name }, namespace }: Pick<PlacedTool, "tool" | "namespace">): string {
  return JSON.stringify([namespace ?? null, name]);
}
