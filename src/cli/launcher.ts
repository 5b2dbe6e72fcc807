import { realpathSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../bin/tollgate", import.meta.url));

/**
 * The word that starts this installation of Tollgate in any folder: `tollgate` if a shell finds this very installation
 * on `path` (as after `npm install -g`), otherwise the launcher's absolute path. `npx tollgate` is not used, since it
 * downloads a package from the registry unless it runs in a folder that contains an installation.
 */
export function launcherCommand(path: string, launcher = LAUNCHER): string {
  // npm puts these folders before the others while it runs a script or a package; the user's shell lacks them.
  const folders = path.split(delimiter).filter((folder) => !/\/node_modules\/\.bin\/?$/.test(folder));
  const found = Bun.which("tollgate", { PATH: folders.join(delimiter) });
  return found !== null && realpathSync(found) === launcher ? "tollgate" : launcher;
}
