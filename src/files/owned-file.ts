import { GatewayError, limits } from "../core/index.ts";
import type { FileCall, FileDependencies } from "./dependencies.ts";
import type { FileProvider } from "./choose-provider.ts";

/** Ids are sent in paths. Nothing else reaches an upstream, whoever asks. */
const FILE_ID = /^[A-Za-z0-9][\w.:-]*$/;

export function isFileId(id: string): boolean {
  return id.length <= limits.storedIdCharactersMax && FILE_ID.test(id);
}

/** The keys that may know a file, the likeliest first; undefined means any key. */
export type FileKeys = readonly [string | undefined, ...string[]];

/**
 * Finds the keys of a file, and whether its owner is recorded. A user's own file has the key that made it. Service callers
 * may ask for any file, also for one whose key nobody knows. Throws 404 for all others, whether the file exists or not.
 */
export async function findFile(
  { owners, clock }: FileDependencies,
  { principal }: FileCall,
  { route, id, param }: Pick<FileProvider, "route"> & { id: string; param: string },
): Promise<{ keys: FileKeys; isRecorded: boolean }> {
  const found = isFileId(id) ? await owners.find([route.prefix], [id], clock()) : [];
  const files = found.filter(({ kind }) => kind === "file");
  const own = files.find(({ owner }) => owner === principal.user) ?? (principal.service ? files[0] : undefined);
  if (own !== undefined) return { keys: [own.keyId], isRecorded: true };
  if (!principal.service || !isFileId(id)) {
    const shown = JSON.stringify(id.slice(0, 80));
    throw new GatewayError("object_not_found", `There is no file ${shown} of yours at ${route.prefix}.`, { param });
  }
  const [first, ...others] = route.keys.ids;
  return { keys: [first, ...others], isRecorded: false };
}
