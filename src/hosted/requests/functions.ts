/** The functions that stand for hosted tools: the model calls them, and the gateway runs them. */
import { GatewayError, type JsonObject } from "../../core/index.ts";
import type { FoundServer, FoundTool } from "../running/served-tools.ts";
import type { FoundConfigured, ReadyConfigured, ReadyTool } from "../running/configured-tools.ts";
import { imageDefinition } from "../running/image-tool.ts";
import type { HostedDialect, ImageTool, SearchTool, WebTool } from "./asked-tools.ts";
import { type ConfiguredAction, configuredDefinition } from "./configured-tools.ts";
import { type SearchAction, searchActionOf, searchDefinition } from "./tool-search.ts";

type WebAction = "web_search" | "web_fetch" | "open_page" | "find_in_page";

/** A search, or a look at a page. */
export interface WebFunction {
  family: "web";
  action: WebAction;
  /** By which the model calls it. */
  name: string;
  /** The tool that it belongs to. */
  tool: WebTool;
}

/** A function of a hosted tool that a tool of a server runs. */
export interface ConfiguredFunction {
  family: "configured";
  name: string;
  tool: ReadyConfigured;
  found: FoundConfigured;
}

/** A search among the tools that the request defers. */
export interface SearchFunction {
  family: "tool-search";
  action: SearchAction;
  name: string;
  tool: SearchTool;
}

/** A tool of a server of this gateway. */
export interface ServedFunction {
  family: "served";
  name: string;
  server: FoundServer;
  served: FoundTool;
}

/** The making of an image. */
interface ImageFunction {
  family: "image";
  name: string;
  tool: ImageTool;
}

/** A function of a tool in the list of the request. */
export type ToolFunction = WebFunction | SearchFunction | ConfiguredFunction | ImageFunction;

export type HostedFunction = ToolFunction | ServedFunction;

/** The functions of one request by the tools that they stand for, as the items of a conversation name those. */
export class FunctionIndex {
  readonly #byAction = new Map<unknown, ToolFunction>();
  readonly #served = new Map<unknown, Map<unknown, ServedFunction>>();

  constructor(functions: readonly HostedFunction[]) {
    for (const each of functions) {
      if (each.family === "served") this.#addServed(each);
      else if (!this.#byAction.has(actionOf(each))) this.#byAction.set(actionOf(each), each);
    }
  }

  get isEmpty(): boolean {
    return this.#byAction.size + this.#served.size === 0;
  }

  withAction(action: unknown): ToolFunction | undefined {
    return this.#byAction.get(action);
  }

  hasServer(label: unknown): boolean {
    return this.#served.has(label);
  }

  ofServer(label: unknown, name: unknown): ServedFunction | undefined {
    return this.#served.get(label)?.get(name);
  }

  #addServed(called: ServedFunction): void {
    const { server, served } = called;
    const tools = this.#served.get(server.label) ?? new Map<unknown, ServedFunction>();
    if (!tools.has(served.name)) tools.set(served.name, called);
    this.#served.set(server.label, tools);
  }
}

/** Its name as the items of a conversation have it. */
function actionOf(called: ToolFunction): WebAction | SearchAction | ConfiguredAction | ImageTool["kind"] {
  if (called.family === "image") return called.tool.kind;
  return called.family === "configured" ? called.found.action : called.action;
}

/** The actions of each tool that a dialect has items for. */
const actionsOf: Readonly<Record<HostedDialect, Readonly<Record<WebTool["kind"], readonly WebAction[]>>>> = {
  chat: { web_search: ["web_search", "open_page"], web_fetch: ["web_fetch"] },
  messages: { web_search: ["web_search"], web_fetch: ["web_fetch"] },
  responses: { web_search: ["web_search", "open_page", "find_in_page"], web_fetch: ["web_fetch"] },
};

const text = (description: string): JsonObject => ({ type: "string", description });

const url = text("The whole address, as it stands in a message or in an earlier result.");

const definitions: Readonly<Record<WebAction, { description: string; properties: JsonObject }>> = {
  web_search: {
    description:
      "Searches the web, and returns pages with an address, a title and passages, each with a number. " +
      'In your answer, enclose each passage that rests on a result in <cite id="N">…</cite>, with the number of the result.',
    properties: { query: text("What to search for, in at most 400 characters.") },
  },
  web_fetch: { description: "Reads one page of the web, or one document.", properties: { url } },
  open_page: { description: "Reads one page of the web, or one document.", properties: { url } },
  find_in_page: {
    description: "Reads one page of the web, and returns the passages that contain a text.",
    properties: { url, pattern: text("The text to find, regardless of case.") },
  },
};

/** A function, independent of dialects. */
export interface FunctionDefinition {
  name: string;
  description: string;
  parameters: JsonObject;
}

/** `tools`: the list of the request. */
export function definitionOf(called: HostedFunction, tools: readonly JsonObject[]): FunctionDefinition {
  const { name } = called;
  if (called.family === "tool-search") return { name, ...searchDefinition(called.action, tools) };
  if (called.family === "served") {
    const { description, parameters } = called.served;
    return { name, description, parameters };
  }
  if (called.family === "configured") {
    const { action, served } = called.found;
    const { description, parameters } = configuredDefinition(action);
    return { name, description: served.description || description, parameters };
  }
  if (called.family === "image") return { name, ...imageDefinition(called.tool) };
  const { description, properties } = definitions[called.action];
  const parameters = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { name, description, parameters };
}

/** The most tools of all servers of a call; no provider takes more functions. */
const SERVED_MAX = 1_024;

/** The functions of these tools and servers. A name that one of the caller's own functions has gets a number. Throws 422 for too many. */
export function functionsOf(
  dialect: HostedDialect,
  { tools, servers }: { tools: readonly ReadyTool[]; servers: readonly FoundServer[] },
  taken: ReadonlySet<string>,
): HostedFunction[] {
  const nameFor = freeNames(taken);
  const actions = new Set<string>();
  const isFirst = (action: string): boolean => !actions.has(action) && actions.add(action).size > 0;
  const ofTools = tools.flatMap((tool): ToolFunction[] => {
    if ("found" in tool)
      return tool.found
        .filter(({ action }) => isFirst(action))
        .map((found) => ({ family: "configured", name: nameFor(found.action), tool, found }));
    if (tool.kind === "tool_search")
      return [searchActionOf(tool.type)]
        .filter(isFirst)
        .map((action) => ({ family: "tool-search", action, name: nameFor(action), tool }));
    if (tool.kind === "image_generation")
      return isFirst(tool.kind) ? [{ family: "image", name: nameFor(tool.kind), tool }] : [];
    return actionsOf[dialect][tool.kind]
      .filter(isFirst)
      .map((action) => ({ family: "web", action, name: nameFor(action), tool }));
  });
  const count = servers.reduce((sum, server) => sum + server.tools.length, 0);
  if (count > SERVED_MAX) {
    const message = `tools: the servers have ${count} tools; ${SERVED_MAX} are permitted in one call. Name fewer of them.`;
    throw new GatewayError("validation_failed", message, { param: "tools" });
  }
  const served = servers.flatMap((server) =>
    server.tools.map((each): ServedFunction => ({ family: "served", name: nameFor(each.name), server, served: each })),
  );
  return [...ofTools, ...served];
}

/** Gives each function a name of its own. The numbers of a name go on, since trying all would take the square of their count. */
function freeNames(taken: ReadonlySet<string>): (wanted: string) => string {
  const names = new Set(taken);
  const numbers = new Map<string, number>();
  return (wanted) => {
    let name = wanted;
    let number = numbers.get(wanted) ?? 2;
    for (; names.has(name); number += 1) name = `${wanted}_${number}`;
    numbers.set(wanted, number);
    names.add(name);
    return name;
  };
}
