import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import { failureOf } from "../../../test/kit/failure-of.ts";
import { PagePool, type PagePoolOptions } from "./page-pool.ts";

const small = bytesOf("<title>A title</title><h1>Hello</h1><p>from a <b>child</b></p>");

/** Takes about a second of parsing. */
const slow = bytesOf("<div><p>word</p></div>".repeat(200_000));

let pools: PagePool[] = [];

function openPool(options: PagePoolOptions = {}): PagePool {
  const pool = new PagePool({ children: 1, ...options });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  pools = [];
});

/** Resolves when a process is gone. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await Bun.sleep(10);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a document is taken apart in a child", () => {
  test("whose result arrives whole", async () => {
    const page = await openPool().takeApart(
      small,
      pageRequest({ wants: { markdown: true, html: true, rawHtml: true } }),
    );
    expect(page).toMatchObject({
      kind: "html",
      markdown: "# Hello\n\nfrom a **child**",
      metadata: { title: "A title" },
    });
    expect(page.rawHtml).toBe(new TextDecoder().decode(small));
    expect(page.html).toContain("<p>from a <b>child</b></p>");
  });

  test("one child does one after the other", async () => {
    const pool = openPool();
    const pages = await Promise.all(
      Array.from({ length: 20 }, (_, index) => pool.takeApart(bytesOf(`<p>${index}`), pageRequest())),
    );
    expect(pages.map(({ markdown }) => markdown)).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
    expect(pool.pids).toHaveLength(1);
  });

  test("five megabytes of a table fit into the memory of a child", async () => {
    const rows = Array.from(
      { length: 60_000 },
      (_, index) =>
        `<tr><td>${index}<td><a href="/harbours/${index}">harbour ${index}</a><td>the depth at low water ${index % 9}</tr>`,
    );
    const { markdown = "" } = await openPool().takeApart(
      bytesOf(`<h1>Harbours</h1><table><tr><th>Number<th>Name<th>Note</tr>${rows.join("")}</table>`),
      pageRequest({ onlyMainContent: true }),
    );
    expect(markdown.split("\n")).toHaveLength(60_004);
  });

  test("a megabyte crosses both ways unchanged", async () => {
    const text = "<p>äöü 漢字 🎉</p>\n".repeat(50_000);
    const page = await openPool().takeApart(bytesOf(text), pageRequest({ wants: { rawHtml: true } }));
    expect(page.rawHtml === text).toBe(true);
  });

  test.skipIf(process.platform !== "linux")("the child knows nothing of the gateway's environment", async () => {
    process.env["SOME_PROVIDER_API_KEY"] = "sk-secret";
    const pool = openPool();
    await pool.takeApart(small, pageRequest());
    const [pid] = pool.pids;
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("sk-secret");
    delete process.env["SOME_PROVIDER_API_KEY"];
  });
});

describe("a failure costs one document", () => {
  test("one that takes too long", async () => {
    const pool = openPool({ taskMsMax: 1 });
    const results = [slow, slow].map((bytes) => failureOf(pool.takeApart(bytes, pageRequest())));
    expect(await Promise.all(results)).toMatchObject([{ failure: "timeout" }, { failure: "timeout" }]);
  });

  test("one that computes too long", async () => {
    const pool = openPool({ taskCpuMsMax: 100 });
    expect(await failureOf(pool.takeApart(slow, pageRequest()))).toMatchObject({ failure: "timeout" });
  });

  test.skipIf(process.platform !== "linux")("one that takes too much memory, and those behind it go on", async () => {
    const pool = openPool({ memoryBytesMax: 120 * 1024 * 1024 });
    const large = pool.takeApart(bytesOf("<a href=/1>x</a>".repeat(300_000)), pageRequest());
    const after = pool.takeApart(small, pageRequest());
    expect(await failureOf(large)).toMatchObject({ failure: "too_large" });
    expect((await after).markdown).toBe("# Hello\n\nfrom a **child**");
  });

  test("a child that dies", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest());
    const [pid = 0] = pool.pids;
    const running = pool.takeApart(slow, pageRequest());
    process.kill(pid, "SIGKILL");
    expect(await failureOf(running)).toMatchObject({ failure: "crashed" });
    expect((await pool.takeApart(small, pageRequest())).kind).toBe("html");
  });

  test("a selector that is none is named", async () => {
    expect(await failureOf(openPool().takeApart(small, pageRequest({ excludeTags: ["a[["] })))).toMatchObject({
      failure: "selector",
      message: "not a CSS selector: a[[",
    });
  });
});

describe("nothing is left", () => {
  test("after close, also of what still runs", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest());
    const [pid = 0] = pool.pids;
    const running = pool.takeApart(slow, pageRequest());
    const waiting = pool.takeApart(small, pageRequest());
    const outcomes = Promise.allSettled([running, waiting]);
    await pool.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(isAlive(pid)).toBe(false);
    expect(await failureOf(pool.takeApart(small, pageRequest()))).toMatchObject({ failure: "busy" });
  });

  test("when there is nothing to do for a while", async () => {
    const pool = openPool({ idleMs: 1 });
    await pool.takeApart(small, pageRequest());
    const [pid = 0] = pool.pids;
    await gone(pid);
    expect((await pool.takeApart(small, pageRequest())).kind).toBe("html");
  });

  test("of a document that nobody waits for", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest());
    const [pid = 0] = pool.pids;
    const aborted = AbortSignal.abort(new Error("gone"));
    expect(await failureOf(pool.takeApart(small, pageRequest(), { signal: aborted }))).toMatchObject({
      message: "gone",
    });
    const hangUp = new AbortController();
    const running = pool.takeApart(bytesOf("<div><p>word</p></div>".repeat(1_000_000)), pageRequest(), {
      signal: hangUp.signal,
    });
    const waiting = pool.takeApart(small, pageRequest(), { signal: hangUp.signal });
    const outcomes = Promise.allSettled([running, waiting]);
    hangUp.abort(new Error("hung up"));
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await gone(pid);
    expect((await pool.takeApart(small, pageRequest())).kind).toBe("html");
  });

  test.skipIf(process.platform !== "linux" || Bun.which("setpriv") === null)(
    "when the gateway is killed while a child works",
    async () => {
      const gateway = Bun.spawn(
        [process.execPath, new URL("../__fixtures__/killed-gateway.ts", import.meta.url).pathname],
        {
          stdin: "ignore",
          stdout: "pipe",
          stderr: "inherit",
        },
      );
      const { value } = await gateway.stdout.getReader().read();
      const pid = Number(new TextDecoder().decode(value));
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      gateway.kill("SIGKILL");
      await gateway.exited;
      await gone(pid);
    },
  );
});

test("what waits is bounded", async () => {
  const pool = openPool({ queueMax: 1 });
  const running = pool.takeApart(small, pageRequest());
  const waiting = pool.takeApart(small, pageRequest());
  expect(await failureOf(pool.takeApart(small, pageRequest()))).toMatchObject({ failure: "busy" });
  expect((await Promise.all([running, waiting])).map(({ kind }) => kind)).toEqual(["html", "html"]);
});
