/** The npm package: its files, and its tarball used with only Node.js and npm, in an empty folder. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type OpenAI from "openai";
import { hasProc, isAlive, processTree, root, sorted, until } from "../kit/index.ts";

/**
 * The installation takes 4 s if npm's cache contains the packages; otherwise npm downloads 45 MB. A third is the console, whose files are in it
 * compressed in two ways, so that no gateway compresses them. The pages of the reference grow with the API.
 * The character maps of PDFs are 0.3 MB.
 */
const packedBytesMax = 4_050_000;

interface Packed {
  filename: string;
  size: number;
  files: { path: string; mode: number }[];
}

/**
 * Variables that a user's shell lacks: keys, and the settings of `npm test` and of Bun's test runner, which would end the
 * server together with npx (`--no-orphans`).
 */
const foreignVariables =
  /^(TOLLGATE|BUN)_|_API_KEY$|^INIT_CWD$|^npm_(?!config_(registry|cafile|proxy|https_proxy|noproxy)$)/i;

/** The environment of a shell that has Node.js and npm, but not the Bun of this repository. */
function userEnvironment(variables: Record<string, string> = {}): Record<string, string> {
  const others = Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
    value === undefined || foreignVariables.test(name) ? [] : [[name, value]],
  );
  const programs = ["node", "npm"].flatMap((name) => dirname(Bun.which(name) ?? "/usr/bin/npm"));
  const path = [...new Set([...programs, "/usr/bin", "/bin"])].join(delimiter);
  return { ...Object.fromEntries(others), PATH: path, ...variables };
}

/** Runs a command to its end and returns its standard output. */
async function run(command: string[], cwd: string, variables: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: userEnvironment(variables), stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

let temporary: string;
/** The folder in which the user works. It contains the tarball. */
let folder: string;
let packed: Packed;
beforeAll(async () => {
  temporary = realpathSync(mkdtempSync(join(tmpdir(), "tollgate-package-")));
  folder = join(temporary, "empty");
  mkdirSync(folder);
  // Without the script `prepare`, which would replace a link in the node_modules that other tests use.
  const text = await run(["npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder], root);
  // A list, or an object by the package's name, depending on npm's version.
  const [first] = Object.values(JSON.parse(text) as Record<string, Packed>);
  if (first === undefined) throw new Error(`npm pack printed ${text}`);
  packed = first;
});
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe("the files of the package", () => {
  let paths: string[];
  beforeAll(() => {
    paths = packed.files.map(({ path }) => path);
  });

  test("are the program, its simulators and its documents", () => {
    const texts = ["CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "openapi.json", "package.json"];
    const documents = [
      ...texts,
      "tollgate.schema.json",
      "tollgate.catalog.schema.json",
      "src/pages/documents/pdf/cmaps.bin",
      "src/pages/main-content/model/model.json",
      "src/pricing/catalog/catalog.json",
    ];
    expect(paths).toContainValues([...documents, "bin/tollgate", "src/cli/main.ts", "simulators/main.ts"]);
    const media = ["simulators/shared/realtime/hello.wav", "simulators/shared/videos/clip.mp4"];
    const site = paths.filter((path) => path.startsWith("simulators/site/content/"));
    expect(site).toContain("simulators/site/content/docs/http-api.md");
    const pages = paths.filter((path) => path.startsWith("documentation/"));
    expect(pages).toContainValues(["documentation/index.html", "documentation/api/chat.html"]);
    const built = paths.filter((path) => path.startsWith("console/"));
    expect(built).toContainValues([
      "console/dist/index.html",
      "console/dist/index.html.br",
      "console/dist/index.html.gz",
    ]);
    const others = paths.filter((path) => !/^(src|simulators)\/[\w./-]+\.ts$/.test(path));
    expect(sorted(others)).toEqual(sorted([...documents, ...media, ...site, ...pages, ...built, "bin/tollgate"]));
    expect(packed.files.find(({ path }) => path === "bin/tollgate")?.mode).toBe(0o755);
  });

  test("contain no tests, fixtures or helpers of tests", () => {
    expect(paths.filter((path) => /\.test\.|(^|\/)(__fixtures__|testing|tests?|recordings)\//.test(path))).toEqual([]);
  });

  test(`are a tarball of less than ${packedBytesMax / 1000} kB`, () => {
    expect(packed.size).toBeWithin(100_000, packedBytesMax);
  });
});

describe("the tarball, through npx in an empty folder", () => {
  /** npm's cache: the usual content, and its own installations of npx. */
  let cache: string;
  let npx: string[];
  let variables: Record<string, string>;
  const started: Bun.Subprocess[] = [];

  beforeAll(async () => {
    cache = join(temporary, "cache");
    mkdirSync(cache);
    const usualCache = await run(["npm", "config", "get", "cache"], folder);
    const content = join(usualCache.trim(), "_cacache");
    mkdirSync(content, { recursive: true });
    symlinkSync(content, join(cache, "_cacache"));
    npx = ["npx", "--yes", `./${packed.filename}`];
    variables = {
      npm_config_cache: cache,
      npm_config_prefer_offline: "true",
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_fetch_retries: "1",
      // Bun's install script does not run, as for users who block such scripts: the launcher has to find the binary.
      npm_config_ignore_scripts: "true",
    };
  });
  afterAll(async () => {
    for (const child of started) {
      // The whole group: if npx is killed, the server may outlive it.
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGKILL");
    }
    await Promise.all(started.map((child) => child.exited));
  });

  interface Server {
    child: Bun.Subprocess;
    output: string;
  }

  /** Starts the sandbox; resolves when the banner is complete, which ends with `end`. */
  async function serve(end: RegExp, ...options: string[]): Promise<Server> {
    const child = Bun.spawn([...npx, "serve", "--sandbox", "--port", "0", ...options], {
      cwd: folder,
      env: userEnvironment(variables),
      stdio: ["ignore", "pipe", Bun.file(join(temporary, "stderr.log"))],
      detached: true,
    });
    started.push(child);
    let output = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      output += decoder.decode(bytes, { stream: true });
      if (end.test(output)) return { child, output };
    }
    throw new Error(`no banner: ${output}${await Bun.file(join(temporary, "stderr.log")).text()}`);
  }

  async function stop({ child }: Server): Promise<void> {
    const processes = hasProc ? processTree(child.pid).map(({ pid }) => pid) : [];
    // Without setpriv (outside of Linux) the signal does not pass through npx, but a terminal's Ctrl-C reaches the group.
    process.kill(hasProc ? child.pid : -child.pid, "SIGTERM");
    await child.exited;
    await until("every process has ended", () => !processes.some(isAlive), 10_000);
  }

  const greeting = { model: "openai/gpt-5-mini", messages: [{ role: "user", content: "Hello!" }] };

  test("serves a sandbox with its own Bun, creates a token, answers a call, and leaves its data only", async () => {
    const server = await serve(/\}\n$/, "--json");
    const banner = JSON.parse(server.output) as { url: string; storage: string; config: null; simulated: string[] };
    expect(banner.storage).toBe(`sqlite:${join(folder, "data/tollgate.db")}`);
    expect(banner.config).toBeNull();
    expect(banner.simulated).toHaveLength(7);
    if (hasProc) {
      const gateway = processTree(server.child.pid).find(({ command }) =>
        /^\S+\/bun(\.exe)? .*main\.ts serve/.test(command),
      );
      expect(gateway?.command).toStartWith(join(cache, "_npx/"));
    }
    const created = await run(
      [...npx, "token", "create", "--user", "anna", "--credits", "1", "--json"],
      folder,
      variables,
    );
    const { token } = JSON.parse(created) as { token: string };
    const answer = await fetch(`${banner.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(greeting),
    });
    expect([answer.status, answer.headers.get("x-tollgate-sandbox")]).toEqual([200, "true"]);
    expect(((await answer.json()) as OpenAI.ChatCompletion).choices[0]?.message.content).toContain("You said");
    await stop(server);
    expect(sorted(readdirSync(folder))).toEqual(["data", packed.filename]);
    expect(readdirSync(join(folder, "data")).toSorted()).toEqual(["tollgate.db", "tollgate.db-serving"]);
  });

  test("a later start prints commands that work in a shell of the user", async () => {
    const server = await serve(/\/console\/sign-in#.*\n\n$/);
    const exports = server.output.match(/^export .*$/gm) ?? [];
    const [call] = /^curl (?:.*\\\n)*.*$/m.exec(server.output) ?? [];
    const answer = await run(["bash", "-c", [...exports, call].join("\n")], tmpdir());
    expect((JSON.parse(answer) as OpenAI.ChatCompletion).choices[0]?.message.content).toContain("You said");
    await stop(server);
  });
});
