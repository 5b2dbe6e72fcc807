/** The folder of packages that tests install from registries: the user's cache, since node_modules is made again with each lock file. */
import { homedir } from "node:os";
import { join } from "node:path";

const userCache =
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache");

export const cacheFolder = join(userCache, "tollgate-tests");
