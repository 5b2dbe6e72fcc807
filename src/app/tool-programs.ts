import { type Config, programPath } from "../config/index.ts";
import type { ServerPlan } from "../tools/index.ts";

/** Of a call, unless the configuration bounds it. */
export const RESULT_BYTES_MAX = 8 * 1024 * 1024;

/** A message contains a result or a list, and a little more. */
const LIST_BYTES_MAX = 4 * 1024 * 1024;
const MESSAGE_BYTES_AROUND = 64 * 1024;

/** The servers of a configuration that are programs, for their host. */
export function serverPlansOf({ mcp }: Config): ServerPlan[] {
  return Object.entries(mcp.servers).flatMap(
    ([name, { command, max_result: resultBytesMax = RESULT_BYTES_MAX, ...server }]) => {
      if (command === undefined) return [];
      const { args, env, directory, user, instance, limits, idle } = server;
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
