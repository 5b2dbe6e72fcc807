/** The part of the composition for users' own credentials at servers of tools. */
import type { AuditLog } from "../../audit/index.ts";
import { outboundWith } from "../webhooks.ts";
import { type Config, ConfigError } from "../../config/index.ts";
import type { Environment } from "../../core/index.ts";
import type { Connectable, ConnectionSignInServices } from "../../http/index.ts";
import { encryptionKey, type Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import {
  Connections,
  type ExchangedToken,
  type OAuthGrant,
  loadSignIns,
  type OAuthServerOptions,
  openConnectionStore,
  openPinStore,
  redirectUri,
  registrationsAt,
  ToolPins,
  type TokenExchangeOptions,
} from "../../tools/index.ts";

interface ConnectionsNeeds {
  config: Config;
  environment: Pick<Environment, "clock" | "randomBytes">;
  storage: Storage;
  log: AuditLog;
  publicUrl: string;
}

export function createConnections({ config, environment, storage, log, publicUrl }: ConnectionsNeeds): Connections {
  refuseWithoutKey(config, storage.engine);
  const { clock, randomBytes } = environment;
  const key = encryptionKey({ configured: config.webhooks.encryption_key, storage, randomBytes });
  const store = openConnectionStore(storage);
  return new Connections({ store, log, key, clock, randomBytes, publicUrl: publicUrl.replace(/\/+$/, "") });
}

/** Throws a `ConfigError` if users' credentials could not be stored: nodes on Postgres may run on different machines. */
export function refuseWithoutKey({ mcp, webhooks }: Config, engine: Storage["engine"]): void {
  if (engine !== "postgres" || webhooks.encryption_key !== "") return;
  const name = Object.keys(mcp.servers).find((each) => storesCredentials(mcp.servers[each]?.auth));
  if (name === undefined) return;
  throw new ConfigError(
    `mcp.servers.${name}.auth`,
    "users' credentials are stored encrypted: on Postgres set webhooks.encryption_key or TOLLGATE_SECRET_KEY",
  );
}

type Auth = Config["mcp"]["servers"][string]["auth"];

function storesCredentials(auth: Auth): boolean {
  return auth !== undefined && "of" in auth;
}

/** The servers at which accounts are connected, and how. */
export function connectableServers({ mcp }: Config): ReadonlyMap<string, Connectable> {
  return new Map(
    Object.entries(mcp.servers).flatMap(([name, { auth }]): [string, Connectable][] => {
      if (auth === undefined || !("of" in auth)) return [];
      return [[name, { way: "header" in auth ? "secret" : "sign-in", of: auth.of }]];
    }),
  );
}

export interface ToolSignIns extends ConnectionSignInServices {
  /** Rejects with a `GatewayError`. */
  exchange(server: string, signedToken: string): Promise<ExchangedToken>;
  /** Rejects with a `GrantRefused`, or with a `GatewayError` while the authorization server cannot be reached. */
  refresh(server: string, grant: OAuthGrant): Promise<OAuthGrant>;
}

interface SignInsNeeds extends Omit<ConnectionsNeeds, "log" | "environment"> {
  environment: Environment;
  connections: Connections;
  logger: Logger;
}

/** Sign-ins at authorization servers. The code is loaded with the first one. */
export function createToolSignIns(options: SignInsNeeds): ToolSignIns {
  const load = async () => {
    const { ConnectionSignIns, OAuthServer, TokenExchange } = await loadSignIns();
    const servers = new Map(oauthServers(options).map((each) => [each.name, new OAuthServer(each)]));
    const { connections, environment, logger } = options;
    const { clock, randomBytes } = environment;
    const exchanges = new Map(tokenExchanges(options).map((each) => [each.name, new TokenExchange(each)]));
    return { servers, exchanges, signIns: new ConnectionSignIns({ connections, servers, clock, randomBytes, logger }) };
  };
  let loaded: ReturnType<typeof load> | undefined;
  const parts = (): ReturnType<typeof load> => (loaded ??= load());
  return {
    begin: async (...given) => (await parts()).signIns.begin(...given),
    finish: async (...given) => (await parts()).signIns.finish(...given),
    revoke: async (...given) => (await parts()).signIns.revoke(...given),
    async exchange(name, signedToken) {
      const exchange = (await parts()).exchanges.get(name);
      if (exchange === undefined) throw new TypeError(`there is no exchange of tokens for ${name}`);
      return exchange.exchange(signedToken);
    },
    async refresh(name, grant) {
      const server = (await parts()).servers.get(name);
      if (server === undefined) throw new TypeError(`there is no sign-in at ${name}`);
      return server.refresh(grant);
    },
  };
}

function oauthServers({
  config,
  environment,
  connections,
  publicUrl,
  storage,
  logger,
}: SignInsNeeds): OAuthServerOptions[] {
  const base = publicUrl.replace(/\/+$/, "");
  const { allow_private_hosts: hosts, allow_ports: ports } = config.web;
  return Object.entries(config.mcp.servers).flatMap(([name, { url, auth }]) => {
    if (url === undefined || auth === undefined || !("oauth" in auth)) return [];
    const { host, port } = new URL(url);
    // The server's own host may be private: the operator has chosen it. Others that it names may not, unless the operator permits them.
    const permitted = { allowPrivateHosts: [...hosts, host], allowPorts: [...ports, Number(port) || 443] };
    const registrations = registrationsAt(
      connections,
      { server: name, redirect: redirectUri(base) },
      environment.clock,
    );
    const outbound = outboundWith(permitted, environment);
    const { clock } = environment;
    const pins = new ToolPins({ store: openPinStore(storage), clock, logger });
    const confirmIssuer = (issuer: string): Promise<boolean> => pins.confirmIssuer(name, issuer);
    return [{ name, url, settings: auth.oauth, publicUrl: base, outbound, registrations, confirmIssuer, clock }];
  });
}

function tokenExchanges({ config, environment }: SignInsNeeds): TokenExchangeOptions[] {
  return Object.entries(config.mcp.servers).flatMap(([name, { url, auth }]) => {
    if (url === undefined || auth === undefined || !("exchange" in auth)) return [];
    const { host, port } = new URL(auth.exchange.token_url);
    // The operator has chosen it.
    const outbound = outboundWith({ allowPrivateHosts: [host], allowPorts: [Number(port) || 443] }, environment);
    return [{ name, url, settings: auth.exchange, outbound, clock: environment.clock }];
  });
}
