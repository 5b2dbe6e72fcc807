/**
 * Builds `console/src` to the files of `console/dist`: scripts split by page, one style sheet, the page that loads them, and each of
 * them compressed. The names of the assets contain hashes of their contents, so that browsers may keep them for good.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from "node:zlib";
import { buildStyles } from "./build-styles.ts";

/** The folder of the built console, relative to the repository's root. */
const DIST = "console/dist";

/** The entry that the page loads; the styles are its neighbour. */
const ENTRY = "console/src/first.ts";

/** The code that all pages share, which the entry loads. */
const SHARED = "console/src/main.tsx";

/**
 * Chromium compiles the functions of a script with this line while it is loaded, in another thread, and not each one at its first call. A
 * page calls most of what it loads: on Spend this takes half of the scripts' time off the page's own thread.
 */
const COMPILED_AT_ONCE = "//# allFunctionsCalledOnLoad";

/** The built files, uncompressed, by their paths below `console/dist`. Throws if the sources don't compile. */
export async function consoleFiles(root: string): Promise<Record<string, string>> {
  const { scripts, entry, preloads } = await bundle(root);
  const styles = await buildStyles(root);
  const styleName = `assets/console-${hashOf(styles)}.css`;
  const icon = readFileSync(join(root, "console/src/icon.svg"), "utf8");
  const iconName = `assets/icon-${hashOf(icon)}.svg`;
  const page = pageOf({ script: entry, style: styleName, icon: iconName });
  const list = `${JSON.stringify(preloads, null, 2)}\n`;
  return { ...scripts, [styleName]: styles, [iconName]: icon, "index.html": page, "preloads.json": list };
}

interface Bundle {
  scripts: Record<string, string>;
  entry: string;
  /** The scripts of each page, by its path, the entry first; `requests/*` is that of the pages below. */
  preloads: Record<string, string[]>;
}

async function bundle(root: string): Promise<Bundle> {
  const { outputs, metafile } = await Bun.build({
    entrypoints: [join(root, ENTRY)],
    root: join(root, "console/src"),
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    metafile: true,
    naming: { entry: "assets/[name]-[hash].js", chunk: "assets/[name]-[hash].js" },
    publicPath: "/console/",
    banner: COMPILED_AT_ONCE,
    define: { "process.env.NODE_ENV": '"production"' },
    jsx: { runtime: "automatic", development: false },
  });
  const texts = outputs.map(async (output) => [nameOf(output), await output.text()] as const);
  const entry = outputs.find(({ kind }) => kind === "entry-point");
  if (entry === undefined || metafile === undefined) throw new Error(`${ENTRY} was bundled to nothing`);
  const scripts = Object.fromEntries(await Promise.all(texts));
  return { scripts, entry: nameOf(entry), preloads: preloadsOf(metafile, nameOf(entry)) };
}

/** A browser would find the scripts of a page one behind the other: the entry, what all share, the page's own, and those that they import. */
function preloadsOf({ outputs }: Bun.BuildMetafile, entry: string): Bundle["preloads"] {
  const importsOf = new Map(
    Object.entries(outputs).map(([path, { imports }]) => [
      nameOf({ path }),
      imports.flatMap(({ kind, path: other }) => (kind === "import-statement" ? [nameOf({ path: other })] : [])),
    ]),
  );
  const entries = Object.entries(outputs).map(([path, { entryPoint = "" }]) => [entryPoint, nameOf({ path })] as const);
  const shared = entries.find(([source]) => source === SHARED)?.[1];
  if (shared === undefined) throw new Error(`${SHARED} was bundled to nothing`);
  const preloads = entries.flatMap(([source, name]): [string, string[]][] => {
    const [, page, file] = /\/pages\/(\w[\w-]*)\/([\w-]+)\.tsx$/.exec(source) ?? [];
    if (page === undefined) return [];
    const found = new Set([entry, shared, name]);
    for (const each of found) for (const other of importsOf.get(each) ?? []) found.add(other);
    return [[file === "page" ? page : `${page}/*`, [...found]]];
  });
  return Object.fromEntries(preloads.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const nameOf = ({ path }: { path: string }): string => path.replace(/^\.\//, "");

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

function pageOf({ script, style, icon }: Record<"script" | "style" | "icon", string>): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Tollgate</title>
    <link rel="icon" href="/console/${icon}" type="image/svg+xml" />
    <link rel="stylesheet" href="/console/${style}" />
    <script type="module" src="/console/${script}"></script>
  </head>
  <body>
    <div id="root"></div>
    <noscript>The console needs JavaScript. The <a href="/docs">documentation</a> does not.</noscript>
  </body>
</html>
`;
}

/** The ways in which each file is compressed, by the end of the name. */
const codings = {
  ".br": {
    compress: (bytes: Uint8Array) =>
      brotliCompressSync(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 11,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
    decompress: (bytes: Uint8Array) => brotliDecompressSync(bytes),
  },
  ".gz": {
    compress: (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }),
    decompress: (bytes: Uint8Array) => gunzipSync(bytes),
  },
};

/** One file of `console/dist`, and whether the one on disk has the same content. */
interface BuiltFile {
  /** Relative to the repository's root. */
  path: string;
  /** Compresses, which takes a while. */
  bytes: () => Uint8Array;
  isCurrent: (onDisk: Uint8Array) => boolean;
}

/**
 * The compressed forms of a file, and itself if it is no asset: the gateway decompresses an asset for clients that take neither form.
 * They are compared decompressed, since machines compress differently.
 */
export function withCompressed(files: Readonly<Record<string, string>>): BuiltFile[] {
  return Object.entries(files).flatMap(([name, text]) => {
    const plain = Buffer.from(text);
    // The gateway alone reads the list of scripts.
    const sent = name.endsWith(".json") ? [] : Object.entries(codings);
    const compressed = sent.map(([ending, { compress, decompress }]) => ({
      path: `${DIST}/${name}${ending}`,
      bytes: () => compress(plain),
      isCurrent: (onDisk: Uint8Array) => isContentOf(plain, () => decompress(onDisk)),
    }));
    const own = {
      path: `${DIST}/${name}`,
      bytes: () => plain,
      isCurrent: (onDisk: Uint8Array) => plain.equals(onDisk),
    };
    return name.startsWith("assets/") ? compressed : [own, ...compressed];
  });
}

/** Not of bytes that can't be decompressed either. */
function isContentOf(plain: Buffer, decompress: () => Uint8Array): boolean {
  try {
    return plain.equals(decompress());
  } catch {
    return false;
  }
}

/** The files of `console/dist` that are none of these. */
export function leftConsoleFiles(root: string, built: readonly { path: string }[]): string[] {
  const known = new Set(built.map(({ path }) => path));
  return readdirSync(join(root, DIST), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, "/").length))
    .filter((path) => !known.has(path));
}
