import { type JsonObject, listOf, objectOf, objectsOf } from "../../core/index.ts";
import type { AnswerBlock, AnswerEvent } from "../conversation/index.ts";

/** A tool's name in this dialect. */
interface QualifiedName {
  name: string;
  namespace: string;
}

/**
 * The names of tools within namespaces, which only OpenAI knows: for other upstreams, all tools of a request have one list of names.
 * A tool keeps its name if no other one has it, else the namespace stands before it.
 */
export class ToolNames {
  readonly #flat = new Map<string, string>();
  readonly #qualified = new Map<string, QualifiedName>();

  /** Of a request: the tools of its list, and those that its history has loaded. */
  constructor({ tools, input }: JsonObject) {
    const all = [...listOf(tools).map((tool) => objectOf(tool) ?? {}), ...loadedIn(input)];
    const namespaces = all.filter(({ type }) => type === "namespace");
    if (namespaces.length === 0) return;
    const within = new Map<string, QualifiedName>();
    for (const { name: namespace, tools: inner } of namespaces) {
      for (const tool of listOf(inner)) {
        const qualified = { namespace: String(namespace), name: String(objectOf(tool)?.["name"]) };
        within.set(keyOf(qualified), qualified);
      }
    }
    const others = new Set(all.flatMap(({ type, name }) => (type === "namespace" ? [] : [name])));
    const counts = new Map<unknown, number>([...others].map((name) => [name, 1]));
    for (const { name } of within.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const [key, qualified] of within) {
      const { namespace, name } = qualified;
      const flat = counts.get(name) === 1 ? name : `${namespace}__${name}`;
      this.#flat.set(key, flat);
      this.#qualified.set(flat, qualified);
    }
  }

  /** The one name of a tool, or of a call in the history, whose tool may not be offered any more. */
  flatten(name: string, namespace: unknown): string {
    if (typeof namespace !== "string") return name;
    return this.#flat.get(keyOf({ namespace, name })) ?? name;
  }

  /** The block with its call's name and namespace in this dialect. */
  qualify<Block extends AnswerBlock>(block: Block): Block {
    if (block.kind !== "tool-call" || block.namespace !== undefined) return block;
    const qualified = this.#qualified.get(block.name);
    return qualified === undefined ? block : { ...block, ...qualified };
  }

  qualifyEvent(event: AnswerEvent): AnswerEvent {
    return event.type === "block-start" ? { ...event, block: this.qualify(event.block) } : event;
  }
}

/** The tools in the results of searches, in their order. */
export function loadedIn(input: unknown): JsonObject[] {
  return listOf(input).flatMap((item) => {
    const { type, tools } = objectOf(item) ?? {};
    return type === "tool_search_output" ? objectsOf(tools) : [];
  });
}

function keyOf({ namespace, name }: QualifiedName): string {
  return JSON.stringify([namespace, name]);
}

/** The tools within a namespace, each as one of its own, with the place that an error names. */
export function toolsWithin(namespace: JsonObject, at: string): { tool: JsonObject; at: string }[] {
  return listOf(namespace["tools"]).map((tool, index) => ({ tool: objectOf(tool) ?? {}, at: `${at}.tools.${index}` }));
}
