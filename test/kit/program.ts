/** The program that tests start as gateway and as command. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runFolder } from "./run-folder.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The program that users start. */
const launcher = join(root, "bin/tollgate");

interface Program {
  command: readonly string[];
  /** The settings of the launcher. */
  variables: Readonly<Record<string, string>>;
}

const launched: Program = { command: [launcher], variables: {} };

let program: Promise<Program> | undefined;

/**
 * The launcher; in a run of all tests, which starts hundreds, the same code in one file with its bytecode. It starts with half of the
 * CPU, since a thousand modules need not be found and compiled each time. Its children run from the sources, and the tests
 * of the launcher, of `npm start` and of the package start what users start.
 */
export function findProgram(): Promise<Program> {
  program ??= runFolder === undefined ? Promise.resolve(launched) : bundled(runFolder);
  return program;
}

/** The launcher with a module that is loaded first. That replaces modules of the sources, which the one file does not load. */
export function programWith(preload: string): Program {
  return { command: launched.command, variables: { BUN_OPTIONS: `--preload=${preload}` } };
}

async function bundled(folder: string): Promise<Program> {
  const place = join(folder, "program");
  if (!existsSync(place)) await bundle(place);
  return {
    command: [process.execPath, join(place, "main.js")],
    variables: {
      BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
      MIMALLOC_PURGE_DELAY: "1000",
      MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "1000",
    },
  };
}

async function bundle(place: string): Promise<void> {
  const made = `${place}-${process.pid}`;
  await Bun.build({
    entrypoints: [join(root, "src/cli/main.ts")],
    target: "bun",
    outdir: made,
    // Bytecode beside a file of JavaScript is for modules of this kind only.
    format: "cjs",
    bytecode: true,
    plugins: [{ name: "places", setup: keepPlaces }],
  });
  try {
    renameSync(made, place);
  } catch {
    // Another process was faster: its program is as good.
    rmSync(made, { recursive: true });
  }
}

/** Modules find files and children beside their source, wherever their code is. */
function keepPlaces(builder: Bun.PluginBuilder): void {
  builder.onLoad({ filter: /\/(src|simulators)\/.*\.ts$/ }, async ({ path }) => {
    const text = await Bun.file(path).text();
    const contents = text
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
      .replaceAll("import.meta.dir", JSON.stringify(dirname(path)));
    return { contents, loader: "ts" };
  });
}
