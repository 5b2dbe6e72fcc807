import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./shared/steps.ts";

const main = `
if (process.argv[2] === "wait") process.on("SIGTERM", () => { console.log("told to stop"); process.exit(); });
console.log(JSON.stringify({
  args: process.argv.slice(2), fetches: process.env.BUN_CONFIG_MAX_HTTP_REQUESTS, pid: process.pid,
}));
if (process.argv[2] === "wait") setInterval(() => {}, 1000);
`;
const ownPlace = "node_modules/bun/bin/bun.exe";

describe("bin/tollgate", () => {
  let folder: string;
  let pack: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate launcher "));
    pack = join(folder, "node_modules", "tollgate");
    await mkdir(join(pack, "node_modules", "bun", "bin"), { recursive: true });
    await mkdir(join(pack, "bin"));
    await cp(join(root, "bin", "tollgate"), join(pack, "bin", "tollgate"));
    await Bun.write(join(pack, "src", "cli", "main.ts"), main);
    await symlink(process.execPath, join(pack, ownPlace));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function launch(environment: Record<string, string> = {}, program = join(pack, "bin", "tollgate")) {
    const child = Bun.spawn([program, "serve", "two words", ""], {
      env: { PATH: "/usr/bin:/bin", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { stdout, stderr, code, pid: child.pid };
  }

  /** Runs `check` with Bun at another place, like that of an installation. */
  async function withBunAt(place: string, check: () => Promise<void>): Promise<void> {
    await mkdir(join(place, ".."), { recursive: true });
    await rename(join(pack, ownPlace), place);
    try {
      await check();
    } finally {
      await rename(place, join(pack, ownPlace));
    }
  }

  test("becomes Bun with the arguments as they are, and lifts its limit on fetches", async () => {
    const { stdout, pid } = await launch();
    expect(JSON.parse(stdout)).toEqual({ args: ["serve", "two words", ""], fetches: "65336", pid });
  });

  test("keeps a limit that the operator has set", async () => {
    const { stdout } = await launch({ BUN_CONFIG_MAX_HTTP_REQUESTS: "512" });
    expect(JSON.parse(stdout)).toMatchObject({ fetches: "512" });
  });

  test("works under npm, still as the same process", async () => {
    const { stdout, pid } = await launch({ npm_command: "exec" });
    expect(JSON.parse(stdout)).toMatchObject({ pid });
  });

  test.skipIf(Bun.which("setpriv") === null)("under npx, ends when npx ends (needs util-linux)", async () => {
    const shell = Bun.spawn(["/bin/sh", "-c", `'${join(pack, "bin", "tollgate")}' wait; true`], {
      env: { PATH: "/usr/bin:/bin", npm_command: "exec" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const decoder = new TextDecoder();
    let printed = "";
    for await (const bytes of shell.stdout) {
      if (printed === "") shell.kill("SIGTERM");
      printed += decoder.decode(bytes);
    }
    expect(printed).toEndWith("told to stop\n");
  });

  test("finds itself behind a chain of links", async () => {
    await symlink("node_modules/tollgate/bin/tollgate", join(folder, "first"));
    await symlink(join(folder, "first"), join(folder, "second"));
    const { code } = await launch({}, join(folder, "second"));
    expect(code).toBe(0);
  });

  test.each([
    ["beside it in node_modules", "node_modules/bun/bin/bun.exe"],
    ["in the platform's package, where install scripts did not run", "node_modules/@oven/bun-linux-x64/bin/bun"],
    ["as a linked bin", "node_modules/.bin/bun"],
  ])("finds Bun %s", async (_, place) => {
    await withBunAt(join(folder, place), async () => {
      expect((await launch()).code).toBe(0);
    });
  });

  test("finds Bun on PATH", async () => {
    await withBunAt(join(folder, "programs", "bun"), async () => {
      expect((await launch({ PATH: `/usr/bin:/bin:${join(folder, "programs")}` })).code).toBe(0);
    });
  });

  test("a placeholder is not Bun; without Bun one line on stderr names the remedy", async () => {
    await withBunAt(join(folder, "elsewhere", "bun"), async () => {
      await Bun.write(join(pack, ownPlace), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
      const { stderr, stdout, code } = await launch();
      expect({ stderr, stdout, code }).toEqual({
        stderr: "tollgate: Bun was not found: install tollgate again, with npm's option --include=optional\n",
        stdout: "",
        code: 1,
      });
      await Bun.write(join(pack, "package-lock.json"), "{}");
      const inRepository = await launch();
      await rm(join(pack, "package-lock.json"));
      expect(inRepository.stderr).toBe(`tollgate: Bun was not found: run \`npm ci --include=optional\` in ${pack}\n`);
    });
  });
});
