import { type Config, providerKeys } from "../../config/index.ts";
import { renameKey } from "../../objects/index.ts";
import { keyIdOf } from "../../routing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";

/**
 * Moves the records under the hash of a named key's secret to its name: the secret had no name before. Never rejects: until it
 * succeeds, the key is known by its hash too, as long as the secret stays.
 */
export async function nameKeys(storage: Storage, { providers }: Config, logger: Pick<Logger, "warn">): Promise<void> {
  const named = Object.entries(providers).flatMap(([provider, settings]) =>
    providerKeys(settings).flatMap(({ name, secret }) =>
      name === undefined ? [] : [{ provider, from: keyIdOf(secret), to: name }],
    ),
  );
  try {
    for (const renaming of named) await renameKey(storage, renaming);
  } catch (reason) {
    logger.warn({ reason: String(reason) }, "records could not be moved to the names of their keys");
  }
}
