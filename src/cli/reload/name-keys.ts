import { isDeepStrictEqual } from "node:util";
import { type Config, providerKeys } from "../../config/index.ts";
import { type KeyRenaming, renameKey } from "../../objects/index.ts";
import { keyIdOf } from "../../routing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";

/**
 * Moves the records under the hash of a named key's secret to its name: the secret had no name before. All records are read for that,
 * so that keys which the configuration `besides` names alike are left out. Never rejects: until it succeeds, the key is known by
 * its hash too, as long as the secret stays.
 */
export async function nameKeys(
  storage: Storage,
  { config, besides }: { config: Config; besides?: Config },
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const others = besides === undefined ? [] : namingsIn(besides);
  const own = namingsIn(config).filter((naming) => !others.some((other) => isDeepStrictEqual(other, naming)));
  try {
    for (const naming of own) await renameKey(storage, naming);
  } catch (reason) {
    logger.warn({ reason: String(reason) }, "records could not be moved to the names of their keys");
  }
}

function namingsIn({ providers }: Config): KeyRenaming[] {
  return Object.entries(providers).flatMap(([provider, settings]) =>
    providerKeys(settings).flatMap(({ name, secret }) =>
      name === undefined ? [] : [{ provider, from: keyIdOf(secret), to: name }],
    ),
  );
}
