import { userInfo } from "node:os";
import { type Config, ConfigError, programPath } from "../../config/index.ts";
import type { ServerPlan } from "../../tools/index.ts";

/** Of a call, unless the configuration bounds it. */
export const RESULT_BYTES_MAX = 8 * 1024 * 1024;

/** A message contains a result or a list, and a little more. */
const LIST_BYTES_MAX = 4 * 1024 * 1024;
const MESSAGE_BYTES_AROUND = 64 * 1024;

/** The user that the gateway runs as. */
interface GatewayUser {
  id: number | undefined;
  name: string;
}

/**
 * The servers of a configuration that are programs, for their host.
 * Throws a `ConfigError` for a program that would run as the gateway's own user, unless `user` names it: it could read the gateway's files.
 */
export function serverPlansOf({ mcp }: Config, gateway: GatewayUser = ownUser()): ServerPlan[] {
  return Object.entries(mcp.servers).flatMap(
    ([name, { command, max_result: resultBytesMax = RESULT_BYTES_MAX, ...server }]) => {
      if (command === undefined) return [];
      const { args, env, directory, user, instance, limits, idle } = server;
      checkUser(`mcp.servers.${name}`, user, gateway);
      const messageBytesMax = Math.max(resultBytesMax, LIST_BYTES_MAX) + MESSAGE_BYTES_AROUND;
      return [
        {
          name,
          command,
          args,
          env: { PATH: programPath(), ...env },
          directory,
          user,
          instance,
          limits,
          idle,
          messageBytesMax,
        },
      ];
    },
  );
}

function ownUser(): GatewayUser {
  return { id: process.getuid?.(), name: userInfo().username };
}

function checkUser(path: string, user: string | undefined, { id, name }: GatewayUser): void {
  if (id === undefined || id === 0) return;
  if (user === undefined) {
    throw new ConfigError(
      `${path}.user`,
      `the program would run as the gateway's own user, ${name}, and could read the gateway's configuration and database. ` +
        `Only a gateway of root can give it another user. "user: ${id}" permits it; a server by its url is apart`,
    );
  }
  if (user !== String(id) && user !== name)
    throw new ConfigError(`${path}.user`, `only a gateway of root can start a program as another user than ${name}`);
}
