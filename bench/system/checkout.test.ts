import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commitOf, openCheckout } from "./checkout.ts";

const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];

/** A repository with two commits: the launcher prints its own, and both have the same lock file. */
describe("the checkout to compare with", () => {
  let folder = "";
  let root = "";
  let firstCommit = "";

  function git(...words: string[]): string {
    const ended = Bun.spawnSync(["git", "-C", root, ...author, ...words]);
    if (ended.exitCode !== 0) throw new Error(ended.stderr.toString());
    return ended.stdout.toString().trim();
  }

  function commit(launcher: string): string {
    writeFileSync(join(root, "bin", "tollgate"), launcher);
    git("add", "--all");
    git("commit", "--quiet", "--message", launcher);
    return git("rev-parse", "--short", "HEAD");
  }

  function open(what: string): ReturnType<typeof openCheckout> {
    return openCheckout({ what, root, directory: mkdtempSync(join(folder, "unpacked-")) });
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-checkout-"));
    root = join(folder, "repository");
    mkdirSync(join(root, "bin"), { recursive: true });
    git("init", "--quiet");
    writeFileSync(join(root, ".gitignore"), "node_modules/\n");
    writeFileSync(join(root, "package-lock.json"), "{}\n");
    firstCommit = commit("first");
    commit("second");
    mkdirSync(join(root, "node_modules"));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("is the code of the requested revision, with this checkout's packages if the lock files agree", () => {
    const { launcher, name } = open("HEAD~1");
    expect(name).toBe(firstCommit);
    expect(readFileSync(launcher, "utf8")).toBe("first");
    const packages = join(dirname(dirname(launcher)), "node_modules");
    expect(realpathSync(packages)).toBe(realpathSync(join(root, "node_modules")));
  });

  test("is a folder as it is when one is named", () => {
    expect(open(root)).toEqual({ launcher: join(root, "bin", "tollgate"), name: commitOf(root) });
  });

  test("is named after its commit, and marked if files differ from it", () => {
    expect(commitOf(root)).toBe(git("rev-parse", "--short", "HEAD"));
    writeFileSync(join(root, "bin", "tollgate"), "changed");
    expect(commitOf(root)).toEndWith("-dirty");
    git("checkout", "--quiet", "--", ".");
  });

  test("is refused when there is no such thing", () => {
    expect(() => open("no-such-thing")).toThrow("neither a folder with bin/tollgate nor a git revision");
  });
});
