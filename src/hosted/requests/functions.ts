/** The functions that stand for hosted tools: the model calls them, and the gateway runs them. */
import type { JsonObject } from "../../core/index.ts";
import type { FoundServer, FoundTool } from "../running/served-tools.ts";
import type { AskedTool, HostedDialect } from "./asked-tools.ts";

type HostedAction = "web_search" | "web_fetch" | "open_page" | "find_in_page";

export interface WebFunction {
  action: HostedAction;
  /** By which the model calls it. */
  name: string;
  /** The tool that it belongs to. */
  tool: AskedTool;
}

/** A tool of a server of this gateway. */
interface ServedFunction {
  action: "mcp";
  name: string;
  server: FoundServer;
  served: FoundTool;
}

export type HostedFunction = WebFunction | ServedFunction;

/** The actions of each tool that a dialect has items for. */
const actionsOf: Readonly<Record<HostedDialect, Readonly<Record<AskedTool["kind"], readonly HostedAction[]>>>> = {
  chat: { search: ["web_search", "open_page"], fetch: ["web_fetch"] },
  messages: { search: ["web_search"], fetch: ["web_fetch"] },
  responses: { search: ["web_search", "open_page", "find_in_page"], fetch: ["web_fetch"] },
};

const text = (description: string): JsonObject => ({ type: "string", description });

const url = text("The whole address, as it stands in a message or in an earlier result.");

const definitions: Readonly<Record<HostedAction, { description: string; properties: JsonObject }>> = {
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

export function definitionOf(called: HostedFunction): FunctionDefinition {
  const { action, name } = called;
  if (action === "mcp") {
    const { description, parameters } = called.served;
    return { name, description, parameters };
  }
  const { description, properties } = definitions[action];
  const parameters = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { name, description, parameters };
}

/** The functions of these tools and servers. A name that one of the caller's own functions has gets a number. */
export function functionsOf(
  dialect: HostedDialect,
  { tools, servers }: { tools: readonly AskedTool[]; servers: readonly FoundServer[] },
  taken: ReadonlySet<string>,
): HostedFunction[] {
  const names = new Set(taken);
  const nameFor = (wanted: string): string => {
    const name = freeName(wanted, names);
    names.add(name);
    return name;
  };
  const actions = new Set<HostedAction>();
  const web = tools.flatMap((tool) =>
    actionsOf[dialect][tool.kind].flatMap((action): WebFunction[] => {
      if (actions.has(action)) return [];
      actions.add(action);
      return [{ action, name: nameFor(action), tool }];
    }),
  );
  const served = servers.flatMap((server) =>
    server.tools.map((each): ServedFunction => ({ action: "mcp", name: nameFor(each.name), server, served: each })),
  );
  return [...web, ...served];
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
  return free;
}
