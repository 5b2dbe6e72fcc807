/** The tools that a request defers (`defer_loading`): its model sees one once a search has found it. */
import { GatewayError, type JsonObject } from "../../core/index.ts";

export interface Namespace {
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
  /** Of a tool of a server: the server's label and the tool's own name. */
  served: { label: string; name: string } | undefined;
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
