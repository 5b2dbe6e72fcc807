/** The browser's processes: whose they are, what they know, and that none is left. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrowserError } from "../../../src/browser/index.ts";
import { CallAborter } from "../../../src/core/index.ts";
import { hasProc, isAlive, processTree, root, until } from "../../kit/index.ts";
import { browserMs, browserWith, hasNoBrowser, html, Site, textOf } from "./browser-scene.ts";

const { promise: never } = Promise.withResolvers<Response>();
const site = new Site((_, { pathname }) => {
  if (pathname === "/never") return never;
  return html(pathname === "/asking" ? `<p>page</p><script>fetch("/asked")</script>` : `<p>page</p>`);
});
afterAll(() => site.server.stop(true));

const allowPrivateHosts = [site.host];
const page = { owner: "alice", url: site.url("/"), timeoutMs: 50_000 };
const hanging = { owner: "alice", url: site.url("/never"), timeoutMs: 50_000 };

const failureOf = async (rendering: Promise<unknown>): Promise<unknown> => {
  try {
    await rendering;
  } catch (thrown) {
    return thrown instanceof BrowserError ? thrown.failure : thrown;
  }
  return "rendered";
};

interface Status {
  pid: number;
  command: string;
}

const browsersBelow = (pid: number): Status[] => processTree(pid).filter((each) => each.pid !== pid);
const mains = (all: readonly Status[]): Status[] =>
  all.filter(({ command }) => command.includes("--user-data-dir") && !command.includes("--type="));
const renderers = (all: readonly Status[]): Status[] =>
  all.filter(({ command }) => command.includes("--type=renderer"));
const drivers = (all: readonly Status[]): Status[] => all.filter(({ command }) => command.includes("browser-child.ts"));
const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("tollgate-browser-"));

/** The folder of the browser whose driver has this id. */
function folderOf(pid: number): string {
  const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  return variables.find((each) => each.startsWith("HOME="))?.slice("HOME=".length) ?? "";
}

const asked = (path: string): Promise<unknown> =>
  until(`a request for ${path}`, () => site.at(path).length > 0, browserMs);

describe.skipIf(hasNoBrowser || !hasProc)("the browser", () => {
  test(
    "starts with the first scrape, knows none of the gateway's variables, is no root, and ends when it rests",
    async () => {
      process.env["OPENAI_API_KEY"] = "sk-of-the-gateway";
      const browser = browserWith({ allowPrivateHosts, idleMs: 1_000 });
      try {
        expect(browsersBelow(process.pid)).toEqual([]);
        const rendering = browser.render(page);
        const seen = await until(
          "a renderer",
          () => {
            const all = browsersBelow(process.pid);
            return renderers(all).length > 0 && all;
          },
          browserMs,
        );
        const [driver] = drivers(seen);
        const folder = folderOf(driver?.pid ?? 0);
        for (const { pid } of [...drivers(seen), ...mains(seen)]) {
          expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toContain(`TMPDIR=${folder}`);
        }
        for (const { pid } of seen) {
          const variables = readIfThere(`/proc/${pid}/environ`);
          expect(variables).not.toContain("sk-of-the-gateway");
          if (process.getuid?.() === 0) expect(ownerOf(pid)).toBeGreaterThan(60_000);
        }
        expect(textOf((await rendering).html)).toContain("<p>page</p>");
        await until("nothing is left", () => browsersBelow(process.pid).length === 0, browserMs);
        await until("no folder is left", () => !folders().some((name) => folder.endsWith(name)));
        // It starts again.
        expect((await browser.render(page)).status).toBe(200);
      } finally {
        delete process.env["OPENAI_API_KEY"];
        await browser.close();
      }
      expect(browsersBelow(process.pid)).toEqual([]);
    },
    2 * browserMs,
  );

  test.each([
    ["Chromium", mains],
    ["its driver", drivers],
  ])(
    "after kill -9 of %s costs the running scrape only",
    async (_, choose) => {
      site.seen.length = 0;
      const browser = browserWith({ allowPrivateHosts });
      try {
        const failed = failureOf(browser.render(hanging));
        await asked("/never");
        const before = browsersBelow(process.pid);
        const folder = folderOf(drivers(before)[0]?.pid ?? 0);
        for (const { pid } of choose(before)) process.kill(pid, "SIGKILL");
        expect(await failed).toBe("crashed");
        await until("its processes end", () => before.every(({ pid }) => !isAlive(pid)), browserMs);
        expect(folders().some((name) => folder.endsWith(name))).toBe(false);
        expect((await browser.render(page)).status).toBe(200);
      } finally {
        await browser.close();
      }
    },
    2 * browserMs,
  );

  test(
    "after kill -9 of a page's process renders the other pages",
    async () => {
      const browser = browserWith({ allowPrivateHosts });
      try {
        const asking = { owner: "alice", url: site.url("/asking"), timeoutMs: 50_000, waitForMs: 30_000 };
        const first = failureOf(browser.render(asking));
        // Its script runs, so that its process is there: a page begins in one that Chromium keeps ready, or in another.
        await asked("/asked");
        const victims = renderers(browsersBelow(process.pid));
        const second = browser.render(page);
        for (const { pid } of victims) process.kill(pid, "SIGKILL");
        expect(await first).toBe("crashed");
        expect([200, "crashed"]).toContain(
          await second.then(
            ({ status }) => status,
            () => "crashed",
          ),
        );
        expect((await browser.render(page)).status).toBe(200);
        expect(drivers(browsersBelow(process.pid))).toHaveLength(1);
      } finally {
        await browser.close();
      }
    },
    2 * browserMs,
  );

  test.each([
    // Its own path and the browser's below it must fit into a socket's.
    ["a short path", "g"],
    ["a path too long for Chromium's socket", `tollgate-gateway-${"long-".repeat(10)}`],
  ])(
    "ends with its gateway, also after kill -9, and leaves no file: temporary files in %s",
    async (_, prefix) => {
      const parent = mkdtempSync(join(tmpdir(), prefix));
      // As for folders of temporary files: everybody may create files, and remove their own.
      chmodSync(parent, 0o1777);
      const script = join(root, "test/web/browser/lonely-gateway.ts");
      const gateway = Bun.spawn([process.execPath, script, site.url("/")], {
        stdout: "pipe",
        stderr: "inherit",
        env: { ...process.env, TMPDIR: parent },
      });
      const { value } = await gateway.stdout.getReader().read();
      expect(new TextDecoder().decode(value)).toBe("200\n");
      const left = browsersBelow(gateway.pid);
      expect(mains(left).length).toBeGreaterThan(0);
      const folder = folderOf(drivers(left)[0]?.pid ?? 0);
      expect(existsSync(folder)).toBe(true);
      gateway.kill("SIGKILL");
      await gateway.exited;
      await until("its processes end", () => left.every(({ pid }) => !isAlive(pid)), browserMs);
      await until("its files are gone", () => !existsSync(folder) && readdirSync(parent).length === 0, browserMs);
      rmSync(parent, { recursive: true });
    },
    2 * browserMs,
  );

  test(
    "closes while pages run and wait",
    async () => {
      site.seen.length = 0;
      const browser = browserWith({ allowPrivateHosts, pagesMax: 1 });
      const running = failureOf(browser.render(hanging));
      const waiting = failureOf(browser.render(page));
      await asked("/never");
      await browser.close();
      expect([await running, await waiting]).toEqual(["crashed", "unavailable"]);
      expect(await failureOf(browser.render(page))).toBe("unavailable");
      expect(browsersBelow(process.pid)).toEqual([]);
    },
    2 * browserMs,
  );
});

describe.skipIf(hasNoBrowser)("scrapes", () => {
  test(
    "wait for a page of the few, and give it back when their caller leaves",
    async () => {
      site.seen.length = 0;
      const browser = browserWith({ allowPrivateHosts, pagesMax: 1 });
      try {
        const caller = new CallAborter();
        const first = failureOf(browser.render({ ...hanging, signal: caller.signal }));
        await asked("/never");
        const impatient = failureOf(browser.render({ ...page, timeoutMs: 50 }));
        const left = new CallAborter();
        const gone = failureOf(browser.render({ ...page, signal: left.signal }));
        const patient = browser.render(page);
        left.abort("gone");
        expect([await impatient, await gone]).toEqual(["busy", "gone"]);
        caller.abort("the client hung up");
        expect(await first).toBe("the client hung up");
        expect((await patient).status).toBe(200);
        expect(await failureOf(browser.render({ ...page, signal: caller.signal }))).toBe("the client hung up");
      } finally {
        await browser.close();
      }
    },
    2 * browserMs,
  );

  test(
    "of a user are refused when too many of them wait, and those of another are not",
    async () => {
      const browser = browserWith({ allowPrivateHosts, pagesMax: 1 });
      const all = Array.from({ length: 33 }, () => failureOf(browser.render(hanging)));
      const refused: unknown = await browser.render(hanging).catch((reason: unknown) => reason);
      expect(refused).toMatchObject({ code: "rate_limit_exceeded", retryAfterSeconds: 5 });
      const ofBob = failureOf(browser.render({ ...hanging, owner: "bob" }));
      await browser.close();
      const [first, ...waiting] = await Promise.all([...all, ofBob]);
      expect(["crashed", "unavailable"]).toContain(String(first));
      expect(new Set(waiting)).toEqual(new Set(["unavailable"]));
    },
    browserMs,
  );
});

describe("without a browser", () => {
  const render = async (options: object): Promise<unknown> => {
    const browser = browserWith(options);
    try {
      return await browser.render(page).catch((error: unknown) => error);
    } finally {
      await browser.close();
    }
  };

  test("the error says what to do", async () => {
    const missing = { failure: "unavailable", message: "/no/chromium is not an executable file" };
    expect(await render({ executable: "/no/chromium" })).toMatchObject(missing);
    expect(await render({ isEnabled: false })).toMatchObject({ failure: "unavailable" });
  });

  test(
    "that can be sandboxed, the error says what to do, and nothing is left",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-executable-"));
      chmodSync(folder, 0o755);
      const executable = join(folder, "chromium");
      writeFileSync(executable, "#!/bin/sh\necho 'FATAL: No usable sandbox! If you are running' >&2\nexit 1\n", {
        mode: 0o755,
      });
      const before = folders();
      const failed = await render({ executable });
      expect(failed).toMatchObject({ failure: "unavailable" });
      expect((failed as Error).message).toContain("its sandbox needs user namespaces");
      writeFileSync(executable, "#!/bin/sh\nexit 3\n", { mode: 0o755 });
      expect(await render({ executable })).toMatchObject({ failure: "unavailable" });
      expect(folders().filter((name) => !before.includes(name))).toEqual([]);
      rmSync(folder, { recursive: true });
    },
    browserMs,
  );
});

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The process ended meanwhile.
    return "";
  }
}

function ownerOf(pid: number): number {
  return Number(/^Uid:\s+(\d+)/m.exec(readIfThere(`/proc/${pid}/status`))?.[1] ?? 65_535);
}
