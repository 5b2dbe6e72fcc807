import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runFailedAgain } from "./run-again.ts";
import { runTests, type TestRun } from "./run-tests.ts";
import { addTallies, summaryLine } from "./tally.ts";

const header = `import { afterAll, expect, test } from "bun:test";\n`;
const passing = `${header}test("holds", () => { expect(1).toBe(1); });\n`;

describe("running test files", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-run-tests-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function run(sources: Record<string, string>): Promise<TestRun> {
    const files = Object.keys(sources).map((name) => `${name}.test.ts`);
    for (const [name, text] of Object.entries(sources)) await Bun.write(join(folder, `${name}.test.ts`), text);
    return await runTests({ files, root: folder, folder });
  }

  test("counts passed, failed and skipped tests, and prints the failures", async () => {
    const mixed = `${passing}test("breaks > <failure />", () => { expect("got").toBe("wanted"); });\ntest.skip("waits", () => {});\n`;
    const { tally, failures, output } = await run({ plain: passing, mixed });
    expect(tally).toEqual({ passed: 2, failed: 1, skipped: 1 });
    expect(failures).toEqual([{ file: "mixed.test.ts", test: "breaks > <failure />" }]);
    expect(output).toContain(`Expected: "wanted"`);
    expect(output).not.toContain("(pass)");
  });

  test.each([
    ["dies by a signal", `${passing}test("dies", () => { process.kill(process.pid, "SIGKILL"); });\n`],
    ["leaves with exit code 0", `${passing}test("leaves", () => { process.exit(0); });\n`],
    ["doesn't load", `import "./missing.ts";\n${passing}`],
    ["holds no test", "export {};\n"],
    ["throws after its tests", `${passing}afterAll(() => { throw new Error("late"); });\n`],
    [
      "throws beside a test",
      `${header}test("ends", async () => { Promise.reject(new Error("lost")); await Bun.sleep(50); });\n`,
    ],
  ])("a file that %s counts as failed", async (_, text) => {
    const { tally, failures } = await run({ bad: text });
    expect(tally.failed).toBeGreaterThan(0);
    expect(failures.map(({ file }) => file)).toContain("bad.test.ts");
  });

  test("a file that fails once and passes alone is flaky, one that fails again has failed", async () => {
    const once = `${header}import { existsSync, writeFileSync } from "node:fs";
test("fails once", () => { const before = existsSync("ran"); writeFileSync("ran", ""); expect(before).toBe(true); });\n`;
    const never = `${header}test("fails", () => { expect(1).toBe(2); });\n`;
    const first = await run({ once, never, plain: passing });
    expect(first.tally).toEqual({ passed: 1, failed: 2, skipped: 0 });
    const files = ["once.test.ts", "never.test.ts", "plain.test.ts"];
    const again = await runFailedAgain(first, { files, root: folder, folder });
    expect(again).toMatchObject({ flaky: ["once.test.ts"], tally: { passed: 2, failed: 1, skipped: 0 } });
    expect(again.failures).toEqual([{ file: "never.test.ts", test: "fails" }]);
  });

  test("the output of a test file about its skipped tests is kept", async () => {
    const sparing = `${passing}console.warn("skipped: the rest, for lack of time");\n`;
    const { tally, skipNotes } = await run({ sparing, plain: passing });
    expect(tally).toEqual({ passed: 2, failed: 0, skipped: 0 });
    expect(skipNotes).toEqual(["skipped: the rest, for lack of time"]);
  });

  test("a file whose process dies does not affect other files' tests", async () => {
    const dying = `${header}test("dies", () => { process.exit(3); });\n`;
    const { tally } = await run({ dying, fine: passing, well: passing });
    expect(tally).toEqual({ passed: 2, failed: 1, skipped: 0 });
  });

  test("tests don't see the keys of real providers", async () => {
    const looks = `${header}test("no key", () => { expect(process.env.SOME_PROVIDER_API_KEY).toBeUndefined(); });\n`;
    process.env["SOME_PROVIDER_API_KEY"] = "a key";
    const { tally } = await run({ looks });
    delete process.env["SOME_PROVIDER_API_KEY"];
    expect(tally).toEqual({ passed: 1, failed: 0, skipped: 0 });
  });
});

describe("the last line", () => {
  test("lists skipped tests only if there are some", () => {
    const one = { passed: 1, failed: 0, skipped: 0 };
    expect(summaryLine(one)).toBe("1 passed, 0 failed");
    expect(summaryLine(addTallies(one, { passed: 2, failed: 1, skipped: 1 }))).toBe("3 passed, 1 failed, 1 skipped");
  });
});
