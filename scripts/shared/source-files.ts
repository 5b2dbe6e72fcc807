import { join } from "node:path";
import { Glob } from "bun";

/** The top folders that hold TypeScript of ours. */
const sourceAreas: readonly string[] = ["src", "simulators", "console", "test", "bench", "scripts", "examples"];

const sourceGlob = new Glob(`{${sourceAreas.join(",")}}/**/*.{ts,tsx}`);

/** The paths of all source files under the repository's root, sorted, with `/` between the folders. */
export async function listSources(root: string): Promise<string[]> {
  const paths = await Array.fromAsync(sourceGlob.scan({ cwd: root }));
  return paths.filter((path) => !path.includes("node_modules/")).toSorted();
}

/** The same files with their texts. */
export async function readSources(root: string): Promise<Map<string, string>> {
  const paths = await listSources(root);
  const entries = paths.map(async (path) => [path, await Bun.file(join(root, path)).text()] as const);
  return new Map(await Promise.all(entries));
}
