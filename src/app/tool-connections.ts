/** The part of the composition for users' own credentials at servers of tools. */
import type { AuditLog } from "../audit/index.ts";
import { type Config, ConfigError } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import { encryptionKey, type Storage } from "../storage/index.ts";
import { Connections, openConnectionStore } from "../tools/index.ts";

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
  return auth !== undefined && "header" in auth;
}

/** The servers at which users connect accounts, and how: by a secret that they give. */
export function connectableServers({ mcp }: Config): ReadonlyMap<string, "secret"> {
  return new Map(
    Object.entries(mcp.servers).flatMap(([name, { auth }]): [string, "secret"][] =>
      auth !== undefined && "header" in auth ? [[name, "secret"]] : [],
    ),
  );
}
