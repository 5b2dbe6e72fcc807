/** Every file in examples/, run as somebody does who has just typed `npm start`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { cleanEnvironment, findPython, type Gateway, root, sorted, startGateway, stopGateways } from "../kit/index.ts";
import { expected } from "./expected.ts";
import { PreloadedPython } from "./preloaded.ts";

/** On a loaded machine Python loads an SDK in many seconds; a test that is too late would end the gateway of all others. */
const examples = join(root, "examples");
const packages = join(root, "node_modules/.bin");
const python = await findPython("examples/python/requirements.txt");

const listFiles = (): string[] =>
  sorted(
    Array.from(new Bun.Glob("**/*").scanSync({ cwd: examples, dot: true })).filter((file) => file !== "README.md"),
  );
const files = listFiles();

/** Files that are read by a program instead of being one. */
const notPrograms = new Set(["python/requirements.txt"]);

/** The runner by the file's extension. A shell script runs by itself. */
const runners: Readonly<Record<string, readonly string[]>> = {
  ".sh": [],
  ".ts": [process.execPath],
  ".py": "python" in python ? [python.python] : [],
};

let gateway: Gateway;
let home: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "tollgate-examples-"));
  gateway = await startGateway({
    folder: home,
    providers: {},
    // The providers and prices of a gateway without a configuration; the command line finds the storage in the file.
    config: { providers: null, pricing: null, storage: `sqlite:${join(home, "tollgate.db")}` },
    arguments: ["--sandbox"],
  });
  standIn(join(home, "claude"), claudesRequest);
  standIn(join(home, "codex"), codexsRequest);
});
afterAll(async () => {
  try {
    expect(await gateway.stop()).toBe(0);
  } finally {
    await stopGateways();
  }
});

/** In the place of an agent stands a script that sends its first request. */
function standIn(path: string, request: readonly string[]): void {
  writeFileSync(path, `#!/usr/bin/env bash\n${request.join("\n")}\n`);
  chmodSync(path, 0o755);
}

const claudesRequest = [
  `curl -sS --fail-with-body "$ANTHROPIC_BASE_URL/v1/messages?beta=true" \\`,
  `  -H "Authorization: Bearer $ANTHROPIC_AUTH_TOKEN" -H "anthropic-version: 2023-06-01" \\`,
  `  -d '{"model":"'"$ANTHROPIC_MODEL"'","max_tokens":100,"messages":[{"role":"user","content":"Hello!"}]}'`,
];

const codexsRequest = [
  `for each in "$@"; do case "$each" in`,
  `  model=*) model=\${each#*=};;`,
  `  model_provider=*) provider=\${each#*=};;`,
  `  model_providers.tollgate.*=*) each=\${each#model_providers.tollgate.}; declare "$each";;`,
  `esac; done`,
  `[ "$provider $wire_api" = "tollgate responses" ] || exit 1`,
  `curl -sS --fail-with-body "$base_url/responses" -H "Authorization: Bearer \${!env_key}" -H "accept: text/event-stream" \\`,
  `  -d '{"model":"'"$model"'","stream":true,"store":false,"input":"Hello!","client_metadata":{}}'`,
];

type Variables = Record<string, string | undefined>;

interface Run {
  file: string;
  cwd: string;
  environment: Record<string, string>;
}

async function runProgram({ file, cwd, environment }: Run) {
  const command = [...(runners[extname(file)] ?? []), file];
  const child = Bun.spawn(command, { cwd, env: environment, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

/** Runs an example in an empty folder, with its own user. */
async function runExample(file: string, variables: Variables = {}, run = runProgram) {
  const cwd = mkdtempSync(join(home, "run-"));
  const all: Variables = {
    ...cleanEnvironment(),
    PATH: `${home}:${packages}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    TOLLGATE_URL: gateway.url,
    TOLLGATE_TOKEN: await gateway.token({ user: basename(cwd) }),
    TOLLGATE_CONFIG: gateway.configFile,
    npm_config_update_notifier: "false",
    ...variables,
  };
  const set = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const outcome = await run({ file: join(examples, file), cwd, environment: Object.fromEntries(set) });
  const sizes = sorted(readdirSync(cwd)).map((name) => [name, statSync(join(cwd, name)).size] as const);
  rmSync(cwd, { recursive: true });
  return { ...outcome, sizes };
}

async function expectWell(file: string, run = runProgram): Promise<void> {
  const { prints = [], leaves = [] } = expected[file] ?? {};
  const { code, stdout, stderr, sizes } = await runExample(file, {}, run);
  expect(code, stdout + stderr).toBe(0);
  let rest = stdout;
  for (const pattern of prints) {
    expect(rest).toMatch(pattern);
    rest = rest.slice(rest.search(pattern) + (pattern.exec(rest)?.[0].length ?? 0));
  }
  expect(sizes.map(([name]) => name)).toEqual([...leaves]);
  for (const [, size] of sizes) expect(size).toBeGreaterThan(100);
}

/** A wrong token, and nothing to make one with. */
async function expectFailure(file: string): Promise<void> {
  const { code, stdout, stderr } = await runExample(file, {
    TOLLGATE_TOKEN: "tg_wrong",
    TOLLGATE_CONFIG: "/nowhere.yaml",
  });
  expect(code).not.toBe(0);
  expect(stdout + stderr).toMatch(/401|The token is not valid|nowhere\.yaml/);
}

const programs = files.filter((file) => !notPrograms.has(file));
const ofKind = (end: string): string[] => programs.filter((file) => extname(file) === end);

describe("each file", () => {
  test("has a runner, and an entry in expected.ts", () => {
    expect(programs).toEqual(sorted(Object.keys(expected)));
    expect(programs.filter((file) => runners[extname(file)] === undefined)).toEqual([]);
  });

  test("is linked from examples/README.md, which links no other", () => {
    const links = Array.from(
      readFileSync(join(examples, "README.md"), "utf8").matchAll(/\]\(([^):#]+)\)/g),
      ([, to = ""]) => to,
    );
    expect(sorted(new Set(links.filter((to) => !to.startsWith("../"))))).toEqual(files);
    for (const to of links) expect(existsSync(join(examples, to)), to).toBe(true);
  });

  test("is short", () => {
    for (const file of files) {
      expect(readFileSync(join(examples, file), "utf8").split("\n").length, file).toBeWithin(3, 52);
    }
  });
});

/** Both at once: on two cores that is as much as there is room for. */
const expectBoth = async (file: string): Promise<void> => {
  await Promise.all([expectWell(file), expectFailure(file)]);
};

test.each([...ofKind(".sh"), ...ofKind(".ts")])("%s runs, and fails with a wrong token", expectBoth);

/** One with each SDK: to load an SDK in Python takes seconds. */
const failingInPython = ["python/chat.py", "python/messages.py"];

describe.skipIf("missing" in python)("in Python", () => {
  if ("missing" in python) console.warn(`skipped: the examples in Python, since ${python.missing}`);

  let preloaded: PreloadedPython;
  beforeAll(() => {
    if ("python" in python) preloaded = new PreloadedPython(python.python);
  });
  afterAll(() => preloaded.stop());

  test.each(ofKind(".py"))("%s runs", (file) => expectWell(file, (run) => preloaded.run(run)));

  test.each(failingInPython)("%s fails with a wrong token", expectFailure);
});

const chats = programs.filter((file) => /\/chat\./.test(file) && ("python" in python || !file.endsWith(".py")));
test.each(chats)("%s names the missing variable", async (file) => {
  const { code, stderr } = await runExample(file, { TOLLGATE_TOKEN: undefined });
  expect(code).not.toBe(0);
  expect(stderr).toContain("TOLLGATE_TOKEN");
});

test("none leaves anything behind in the repository", () => {
  expect(listFiles()).toEqual(files);
});
