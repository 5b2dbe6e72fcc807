/**
 * The revisions of the protocol. One of 2025 begins with `initialize` and may have a session; since 2026-07-28 every request
 * carries its revision and the client's capabilities in `_meta`, and nothing lasts longer than a request.
 */
import { type JsonObject, objectOf } from "../core/index.ts";
import { encodedValue } from "./header-values.ts";
import { RpcError, type RpcRequest, rpcCodes } from "./json-rpc.ts";
import { sessionCapabilities } from "./session-id.ts";

export const STATELESS = "2026-07-28";
const statelessRevisions: readonly string[] = [STATELESS];
/** The newest first. */
export const sessionRevisions = ["2025-11-25", "2025-06-18"] as const;

/** The first with elicitation by URL. */
const URL_REVISION = "2025-11-25";

export type SessionRevision = (typeof sessionRevisions)[number];

const META = "io.modelcontextprotocol/";
export const versionKey = `${META}protocolVersion`;
export const capabilitiesKey = `${META}clientCapabilities`;
export const serverInfoKey = `${META}serverInfo`;
/** The level of log messages that a client of the stateless era wants. */
export const logLevelKey = `${META}logLevel`;
export const subscriptionKey = `${META}subscriptionId`;
/** The extension by which a call may be answered with a task. */
export const tasksExtension = `${META}tasks`;

/** The extension by which a tool names the page that shows its result (`ui://`). */
export const uiExtension = `${META}ui`;

/** The only type of such pages so far. */
export const uiCapability: JsonObject = { mimeTypes: ["text/html;profile=mcp-app"] };

/** How a message is answered. */
export type Era = { capabilities: JsonObject } & (
  | { stateless: false; revision: SessionRevision }
  | { stateless: true }
);

/** The parameter that `Mcp-Name` repeats. */
const namedBy: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/**
 * The era of a message, decided by its `_meta`: a proxy may drop a header. Throws the errors that revision 2026-07-28 requires for a
 * request whose headers differ from its body, so that nothing in front decides by one and the gateway by the other.
 */
export function eraOf(headers: Headers, message: RpcRequest): Era {
  const header = headers.get("mcp-protocol-version")?.trim();
  const meta = objectOf(message.params["_meta"]) ?? {};
  const claimed = meta[versionKey];
  if (claimed === undefined) {
    if (message.id !== undefined && header !== undefined && header >= STATELESS) refuseBare(header, message.method);
    const revision = sessionRevisions.find((each) => each === header) ?? sessionRevisions[0];
    return { stateless: false, revision, capabilities: sessionCapabilities(headers.get("mcp-session-id") ?? "") };
  }
  if (typeof claimed !== "string") throw malformed(`_meta["${versionKey}"] must be a text.`);
  if (header !== undefined && header !== claimed) throw mismatch(`MCP-Protocol-Version is not that of _meta.`);
  if (!statelessRevisions.includes(claimed)) throw unsupported(claimed);
  // Neither the headers nor the capabilities of a notification are defined by the revision.
  if (message.id === undefined) return { stateless: true, capabilities: {} };
  if (header === undefined) throw mismatch("The header MCP-Protocol-Version is missing.");
  const capabilities = objectOf(meta[capabilitiesKey]);
  if (capabilities === undefined) throw malformed(`_meta["${capabilitiesKey}"] must be an object.`);
  checkHeaders(headers, message);
  return { stateless: true, capabilities };
}

/** The headers name a stateless revision; the body is that of an older one, or of nothing. */
function refuseBare(header: string, method: string): never {
  if (method === "initialize") throw mismatch("initialize belongs to revisions before that of MCP-Protocol-Version.");
  if (!statelessRevisions.includes(header)) throw unsupported(header);
  throw malformed(`_meta["${versionKey}"] is missing.`);
}

function checkHeaders(headers: Headers, { method, params }: RpcRequest): void {
  const named = headers.get("mcp-method");
  if (named === null) throw mismatch("The header Mcp-Method is missing.");
  if (named.trim() !== method) throw mismatch("The header Mcp-Method is not the method of the body.");
  const value = nameOf(method, params);
  if (value === undefined) return;
  const name = headers.get("mcp-name");
  if (name === null) throw mismatch("The header Mcp-Name is missing.");
  if (encodedValue(name) !== value) throw mismatch("The header Mcp-Name is not the name in the body.");
}

/** The member of a message's parameters that `Mcp-Name` repeats; undefined if there is none. */
export function nameOf(method: string, params: JsonObject): string | undefined {
  const source = Object.hasOwn(namedBy, method) ? namedBy[method] : undefined;
  const value = source === undefined ? undefined : params[source];
  return typeof value === "string" ? value : undefined;
}

function mismatch(message: string): RpcError {
  return new RpcError(rpcCodes.headerMismatch, message, { status: 400 });
}

function malformed(message: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, message, { status: 400 });
}

function unsupported(requested: string): RpcError {
  const data = { supported: statelessRevisions, requested: requested.slice(0, 40) };
  return new RpcError(rpcCodes.unsupportedVersion, "Unsupported protocol version.", { status: 400, data });
}

/** Whether the client may be answered with a task. */
export function takesTasks(capabilities: JsonObject): boolean {
  return objectOf(objectOf(capabilities["extensions"])?.[tasksExtension]) !== undefined;
}

/** Whether the client can show the user an address (elicitation by URL). */
export function takesUrls(era: Era): boolean {
  const { capabilities } = era;
  if (!era.stateless && era.revision !== URL_REVISION) return false;
  return objectOf(objectOf(capabilities["elicitation"])?.["url"]) !== undefined;
}

/** The capabilities of a client by which servers ask it. */
const askable = ["elicitation", "sampling", "roots"] as const;

/** Those that the client has, and whether it follows tasks and shows pages of tools; without all others. */
export function askableOf(capabilities: JsonObject): JsonObject {
  const asked: JsonObject = Object.fromEntries(
    askable.flatMap((name) => (objectOf(capabilities[name]) === undefined ? [] : [[name, capabilities[name]]])),
  );
  const hasUi = objectOf(objectOf(capabilities["extensions"])?.[uiExtension]) !== undefined;
  const extensions = {
    ...(takesTasks(capabilities) && { [tasksExtension]: {} }),
    ...(hasUi && { [uiExtension]: uiCapability }),
  };
  return Object.keys(extensions).length > 0 ? { ...asked, extensions } : asked;
}
