/**
 * The methods whose answers are there at once, or after a moment: nothing is reported before the answer, and nobody cancels it. Without the
 * parts for that, a list costs half as much.
 */
import { type JsonObject, objectOf } from "../core/index.ts";
import { invalidParams, resultText } from "./json-rpc.ts";
import type { McpCall } from "./methods.ts";
import { listAnswer } from "./list-answer.ts";
import { whole } from "./outgoing.ts";
import { discovered, initialized } from "./results.ts";
import { type Era, sessionRevisions } from "./revisions.ts";

interface ShortCall extends Pick<McpCall, "id" | "method" | "params" | "era" | "server"> {
  /** Begins a session of the owner, whose client has these capabilities, and returns its id. */
  newSession: (capabilities: JsonObject) => string;
}

type ShortMethod = (call: ShortCall) => Response | Promise<Response>;

const sessionMethods: Readonly<Record<string, ShortMethod>> = {
  initialize: initialize,
  ping: ({ id }) => whole({ text: resultText(id, "{}") }),
  "tools/list": listTools,
};

const statelessMethods: Readonly<Record<string, ShortMethod>> = {
  "server/discover": ({ id, server }) => whole({ text: resultText(id, discovered(server)) }),
  "tools/list": listTools,
};

/** Undefined if it is none of them. */
export function shortMethodOf({ stateless }: Era, name: string): ShortMethod | undefined {
  const methods = stateless ? statelessMethods : sessionMethods;
  return Object.hasOwn(methods, name) ? methods[name] : undefined;
}

/** A client that asks for another revision decides itself whether the newest will do. */
function initialize({ id, params, server, newSession }: ShortCall): Response {
  const asked = sessionRevisions.find((each) => each === params["protocolVersion"]);
  const text = resultText(id, initialized(server, asked ?? sessionRevisions[0]));
  return whole({ text, headers: { "mcp-session-id": newSession(objectOf(params["capabilities"]) ?? {}) } });
}

async function listTools({ id, server, era, params }: ShortCall): Promise<Response> {
  // All tools are on the first page.
  if (params["cursor"] !== undefined) throw invalidParams("There is no such cursor.");
  const listing = await server.listTools(era.stateless);
  return whole({ text: listAnswer(id, { listing, server, isStateless: era.stateless }) });
}
