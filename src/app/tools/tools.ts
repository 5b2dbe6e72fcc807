/** The part of the composition for other servers of tools. */
import type { ToolSignIns } from "./connections.ts";
import { RESULT_BYTES_MAX } from "./programs.ts";
import { outboundWith } from "../webhooks.ts";
import { createMarkups } from "../routing/routing.ts";
import type { PaidWork } from "../paid-work.ts";
import { type Config, readApiDocument } from "../../config/index.ts";
import {
  allows,
  type AskUpstream,
  type Environment,
  hideFromOthers,
  matchesGlob,
  type Places,
} from "../../core/index.ts";
import { isOwnTool } from "../../http/index.ts";
import { type ModelPrice, webPrice } from "../../pricing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import {
  type AccessTo,
  askHost,
  type Connections,
  ExchangeAccess,
  type OAuthGrant,
  HeaderCredentials,
  type HostAddress,
  hostedUrl,
  McpClient,
  OAuthCredentials,
  OpenApiServer,
  RecentMap,
  type ServerAccess,
  openPinStore,
  secretForms,
  secretsIn,
  ToolGateway,
  ToolPins,
  ToolServer,
  type ToolSet,
  type ToolSource,
  UrlServers,
  UserAccess,
} from "../../tools/index.ts";

interface ToolsOptions {
  config: Config;
  environment: Environment;
  logger: Logger;
  storage: Storage;
  version: string;
  ticker: Ticker;
  calls: PaidWork;
  connections: Connections;
  signIns: Pick<ToolSignIns, "refresh" | "exchange">;
  places: Places;
  /** The process that owns the servers that are programs. */
  toolHost: HostAddress | undefined;
}

/** Of a call of an HTTP API, unless the configuration bounds it. */
const API_RESULT_BYTES_MAX = 1024 * 1024;

/** Users whose sessions with one program are remembered. */
const CLIENTS_MAX = 10_000;

type ServerConfig = Config["mcp"]["servers"][string];

/** No server is asked before a caller wants its tools. */
export function createToolGateway(options: ToolsOptions): ToolGateway {
  const { config, environment, calls } = options;
  const { servers, sets } = config.mcp;
  return new ToolGateway({
    shell: calls.shell,
    clock: environment.clock,
    places: options.places,
    isOwnName: isOwnTool,
    urls: urlServers(options),
    servers: Object.entries(servers).map(([name, server]) => createServer(options, name, server)),
    sets: new Map(Object.entries(sets).map(([name, set]): [string, ToolSet] => [name, setOf(set)])),
  });
}

/** Undefined if callers may name none: then nothing is kept for them. */
function urlServers(options: ToolsOptions): UrlServers | undefined {
  const { config, environment, logger, version, ticker } = options;
  const allowed = config.mcp.allow_server_urls;
  if (allowed.length === 0) return undefined;
  const { allow_private_hosts: allowPrivateHosts, allow_ports: ports } = config.web;
  const allowPorts = [...ports, ...allowed.flatMap((each) => Number(new URL(each).port) || [])];
  return new UrlServers({
    allowed,
    outbound: outboundWith({ allowPrivateHosts, allowPorts }, environment),
    price: webPrice({ tool_calls_kcount: 0 }, 1_000_000n),
    version,
    ticker,
    clock: environment.clock,
    logger,
    wait: waitOf(options),
  });
}

function setOf({ servers, tools, prefix }: Config["mcp"]["sets"][string]): ToolSet {
  return {
    servers: servers.filter((name) => name !== "tollgate"),
    hasOwn: servers.includes("tollgate"),
    tools,
    prefix,
  };
}

function createServer(options: ToolsOptions, name: string, server: ServerConfig): ToolServer {
  const { environment, logger, storage } = options;
  return new ToolServer({
    name,
    accessOf: accessTo(options, name, server),
    pins: server.pin ? new ToolPins({ store: openPinStore(storage), clock: environment.clock, logger }) : undefined,
    tools: server.tools,
    priceOf: pricesOf(options, name, server),
    chargesErrors: matcherOf(server.price?.errors),
    isIdempotent: matcherOf(server.idempotent),
    timeoutMs: server.timeout,
    isProgram: server.command !== undefined,
    resultBytesMax: server.max_result ?? (server.openapi === undefined ? RESULT_BYTES_MAX : API_RESULT_BYTES_MAX),
    clock: environment.clock,
    logger,
    wait: waitOf(options),
  });
}

/** Whether the globs name a tool; none does if there are no globs. */
function matcherOf(globs: readonly string[] | undefined): (tool: string) => boolean {
  return (tool) => globs !== undefined && allows(globs, tool);
}

/** With the operator's credentials, or those that each user has given. */
function accessTo(options: ToolsOptions, name: string, server: ServerConfig): AccessTo {
  const { auth } = server;
  if (auth !== undefined && "of" in auth) return connectedAccessTo(options, name, { ...server, auth });
  if (auth !== undefined && "exchange" in auth) {
    const access = new ExchangeAccess({
      ask: options.environment.ask,
      sourceWith: sourceOf(options, name, server),
      exchange: (signedToken) => options.signIns.exchange(name, signedToken),
      clientSecret: auth.exchange.client_secret,
      clock: options.environment.clock,
    });
    return (caller) => access.of(caller);
  }
  const clientOf = clientsOf(options, name, server);
  const secrets = secretForms([
    ...Object.values(headersOf(server)).map((value) => value.replace(/^(?:Bearer|Basic|Token) /i, "")),
    ...secretsIn(server.env),
  ]);
  const common = { key: "", owner: "", lists: clientOf(""), secrets: () => secrets };
  // The changes of a process of one user's own are for nobody else.
  const changesFor = (user: string, source: ToolSource): Pick<ServerAccess, "changes"> =>
    server.instance === "user" && server.command !== undefined ? { changes: { key: user, source } } : {};
  return ({ user }) => {
    const calls = clientOf(user);
    return { ...common, calls, ...changesFor(user, calls) };
  };
}

type ConnectedAuth = Extract<NonNullable<ServerConfig["auth"]>, { of: string }>;

/** Each account has a client of its own, so that no user shares the session of another. */
function connectedAccessTo(
  options: ToolsOptions,
  name: string,
  server: ServerConfig & { auth: ConnectedAuth },
): AccessTo {
  const { environment, logger, connections, signIns } = options;
  const { auth } = server;
  const oauth = {
    server: name,
    connections,
    refresh: (grant: OAuthGrant) => signIns.refresh(name, grant),
    clock: environment.clock,
    wait: waitOf(options),
  };
  const access = new UserAccess({
    name,
    connections,
    of: auth.of,
    ask: environment.ask,
    sourceWith: sourceOf(options, name, server),
    credentialsOf: (connection) =>
      "header" in auth
        ? new HeaderCredentials(connection, { header: auth.header, server: name, connections })
        : new OAuthCredentials(connection, oauth),
    logger,
  });
  return (caller) => access.of(caller);
}

function waitOf({ ticker }: Pick<ToolsOptions, "ticker">): (milliseconds: number) => Promise<void> {
  return (milliseconds) => new Promise((resolve) => void ticker.after(milliseconds, resolve));
}

type SourceOptions = Pick<ToolsOptions, "environment" | "version" | "ticker">;

/** Makes clients of a server that has a URL, given the function by which they ask it: that may add credentials. */
function sourceOf(
  { version, ticker }: SourceOptions,
  name: string,
  { url, openapi, ...server }: ServerConfig,
): (ask: AskUpstream) => ToolSource {
  if (url === undefined) throw new TypeError("a program has no URL");
  const headers = headersOf(server);
  if (openapi === undefined) return (ask) => new McpClient({ name, url, headers, version, ask, ticker });
  const document = readApiDocument(openapi, `mcp.servers.${name}.openapi`);
  return (ask) => new OpenApiServer({ name, url, document, headers, ask, ticker });
}

/** A server by its URL has one client for all; one that is a program a client for each user, since its calls must not mix. */
function clientsOf(options: ToolsOptions, name: string, server: ServerConfig): (user: string) => ToolSource {
  if (server.url !== undefined) {
    const source = sourceOf(options, name, server)(options.environment.ask);
    return () => source;
  }
  const { toolHost, version, ticker } = options;
  if (toolHost === undefined) throw new Error("this process has no host of programs");
  hideFromOthers();
  const clients = new RecentMap<McpClient>(CLIENTS_MAX);
  const url = hostedUrl(name);
  return (user) =>
    clients.use(
      user,
      () => new McpClient({ name, url, headers: {}, version, ask: askHost(toolHost, user), ticker, isProgram: true }),
    );
}

/** Those of the operator. */
function headersOf({ auth }: Pick<ServerConfig, "auth">): Readonly<Record<string, string>> {
  if (auth === undefined) return {};
  if ("bearer" in auth) return { authorization: `Bearer ${auth.bearer}` };
  return "headers" in auth ? auth.headers : {};
}

/** Prices are for a thousand calls, as those of all units that are counted. */
function pricesOf({ config }: ToolsOptions, name: string, { price }: ServerConfig): (tool: string) => ModelPrice {
  const markupOf = createMarkups(config);
  const byTool = new Map<string, ModelPrice>();
  return (tool) => {
    const known = byTool.get(tool);
    if (known !== undefined) return known;
    const matching = Object.entries(price?.tools ?? {}).findLast(([glob]) => matchesGlob(glob, tool));
    const credits = matching?.[1] ?? price?.call ?? 0;
    const made = webPrice({ tool_calls_kcount: perThousand(credits) }, markupOf(`${name}/${tool}`));
    byTool.set(tool, made);
    return made;
  };
}

/** Without the errors of a binary fraction. */
function perThousand(credits: number): number {
  return Math.round(credits * 1e12) / 1e9;
}
