import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import { limits } from "../../core/index.ts";
import { failureOf } from "../../../test/kit/failure-of.ts";
import { testMsMax } from "../../../test/kit/time-limits.ts";
import { PagePool, type PagePoolOptions } from "./page-pool.ts";

const small = bytesOf("<title>A title</title><h1>Hello</h1><p>from a <b>child</b></p>");

/** Takes about a second of parsing. */
const slow = bytesOf("<div><p>word</p></div>".repeat(200_000));

/** Takes a tenth of that. */
const shorter = bytesOf("<div><p>word</p></div>".repeat(20_000));

const verySlow = bytesOf("<div><p>word</p></div>".repeat(1_000_000));

const alice = { owner: "alice" };
const bob = { owner: "bob" };

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
      alice,
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
      Array.from({ length: 20 }, (_, index) => pool.takeApart(bytesOf(`<p>${index}`), pageRequest(), alice)),
    );
    expect(pages.map(({ markdown }) => markdown)).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
    expect(pool.pids).toHaveLength(1);
  });

  test("a table of 120,000 cells fits into the memory of a child", async () => {
    const rows = Array.from(
      { length: 40_000 },
      (_, index) =>
        `<tr><td>${index}<td><a href="/harbours/${index}">harbour ${index}</a><td>the depth at low water ${index % 9}</tr>`,
    );
    // Its time is not what is tested, and the collector takes more of it on a busy machine.
    const { markdown = "" } = await openPool({ taskCpuMsMax: 60_000, taskMsMax: testMsMax }).takeApart(
      bytesOf(`<h1>Harbours</h1><table><tr><th>Number<th>Name<th>Note</tr>${rows.join("")}</table>`),
      pageRequest({ onlyMainContent: true }),
      alice,
    );
    expect(markdown.split("\n")).toHaveLength(40_004);
  });

  test("a text as large as a page may be arrives whole", async () => {
    const text = "A line of a text that goes on https://site.test/ and on.\n"
      .repeat(290_000)
      .slice(0, 16 * 1024 * 1024);
    const request = pageRequest({ contentType: "text/plain", wants: { markdown: true, links: true } });
    const { markdown, links } = await openPool().takeApart(bytesOf(text), request, alice);
    expect([markdown?.length, links]).toEqual([text.trimEnd().length, ["https://site.test/"]]);
  });

  test("a megabyte crosses both ways unchanged", async () => {
    const text = "<p>äöü 漢字 🎉</p>\n".repeat(50_000);
    const page = await openPool().takeApart(bytesOf(text), pageRequest({ wants: { rawHtml: true } }), alice);
    expect(page.rawHtml === text).toBe(true);
  });

  test.skipIf(process.platform !== "linux")(
    "the child starts as fast as others, and then lets them go first",
    async () => {
      const pool = openPool();
      const reading = pool.takeApart(small, pageRequest(), alice);
      while (pool.pids.length === 0) await Bun.sleep(0);
      const [pid = 0] = pool.pids;
      expect(getPriority(pid)).toBe(getPriority());
      await reading;
      const threads = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
      expect(new Set(threads)).toEqual(new Set([limits.backgroundNiceness]));
    },
  );

  test.skipIf(process.platform !== "linux")("the child knows nothing of the gateway's environment", async () => {
    process.env["SOME_PROVIDER_API_KEY"] = "sk-secret";
    const pool = openPool();
    await pool.takeApart(small, pageRequest(), alice);
    const [pid] = pool.pids;
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("sk-secret");
    delete process.env["SOME_PROVIDER_API_KEY"];
  });
});

/**
 * The failure of a task that has begun. On a busy machine one may wait for its whole time, which is `busy`: it gets twice as
 * much then.
 */
async function failureOfBegun(task: (timeoutMs: number) => Promise<unknown>, timeoutMs = 500): Promise<unknown> {
  const ended = await failureOf(task(timeoutMs));
  return (ended as { failure?: string }).failure === "busy" ? failureOfBegun(task, 2 * timeoutMs) : ended;
}

describe("a failure costs one document", () => {
  test("one that takes longer than its caller allows", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest(), alice);
    const late = (timeoutMs: number) => pool.takeApart(verySlow, pageRequest(), { ...alice, timeoutMs });
    expect(await failureOfBegun(late)).toMatchObject({ failure: "late" });
  });

  test("one that takes longer than any may", async () => {
    const endless = (taskMsMax: number) => openPool({ taskMsMax }).takeApart(verySlow, pageRequest(), alice);
    expect(await failureOfBegun(endless)).toMatchObject({ failure: "timeout" });
  });

  test("one that computes too long", async () => {
    const pool = openPool({ taskCpuMsMax: 100 });
    expect(await failureOf(pool.takeApart(slow, pageRequest(), alice))).toMatchObject({ failure: "timeout" });
  });

  test.skipIf(process.platform !== "linux")("one that takes too much memory, and those behind it go on", async () => {
    const pool = openPool({ memoryBytesMax: 180 * 1024 * 1024 });
    const large = pool.takeApart(bytesOf("<a href=/1>x</a>".repeat(300_000)), pageRequest(), alice);
    const after = pool.takeApart(small, pageRequest(), alice);
    expect(await failureOf(large)).toMatchObject({ failure: "too_large" });
    expect((await after).markdown).toBe("# Hello\n\nfrom a **child**");
  });

  test("a child that dies", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest(), alice);
    const [pid = 0] = pool.pids;
    const running = pool.takeApart(slow, pageRequest(), alice);
    process.kill(pid, "SIGKILL");
    expect(await failureOf(running)).toMatchObject({ failure: "crashed" });
    expect((await pool.takeApart(small, pageRequest(), alice)).kind).toBe("html");
  });

  test("a selector that is none is named", async () => {
    expect(await failureOf(openPool().takeApart(small, pageRequest({ excludeTags: ["a[["] }), alice))).toMatchObject({
      failure: "selector",
      message: "not a CSS selector: a[[",
    });
  });
});

describe("nothing is left", () => {
  test("after close, also of what still runs", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest(), alice);
    const [pid = 0] = pool.pids;
    const running = pool.takeApart(slow, pageRequest(), alice);
    const waiting = pool.takeApart(small, pageRequest(), alice);
    const outcomes = Promise.allSettled([running, waiting]);
    await pool.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(isAlive(pid)).toBe(false);
    expect(await failureOf(pool.takeApart(small, pageRequest(), alice))).toMatchObject({ failure: "busy" });
  });

  test("when there is nothing to do for a while", async () => {
    const pool = openPool({ idleMs: 1 });
    await pool.takeApart(small, pageRequest(), alice);
    const [pid = 0] = pool.pids;
    await gone(pid);
    expect((await pool.takeApart(small, pageRequest(), alice)).kind).toBe("html");
  });

  test("of a document that nobody waits for", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest(), alice);
    const [pid = 0] = pool.pids;
    const aborted = AbortSignal.abort(new Error("gone"));
    expect(await failureOf(pool.takeApart(small, pageRequest(), { ...alice, signal: aborted }))).toMatchObject({
      message: "gone",
    });
    const hangUp = new AbortController();
    const running = pool.takeApart(verySlow, pageRequest(), {
      ...alice,
      signal: hangUp.signal,
    });
    const waiting = pool.takeApart(small, pageRequest(), { ...alice, signal: hangUp.signal });
    const outcomes = Promise.allSettled([running, waiting]);
    hangUp.abort(new Error("hung up"));
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await gone(pid);
    expect((await pool.takeApart(small, pageRequest(), alice)).kind).toBe("html");
  });

  test.skipIf(process.platform !== "linux")("when the gateway is killed while a child works", async () => {
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
  });
});

test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)(
  "children of a gateway of root have neither its user nor its rights when they read a document",
  async () => {
    const pool = openPool({ children: 2 });
    await Promise.all([alice, bob].map((owner) => pool.takeApart(small, pageRequest(), owner)));
    const users = pool.pids.map((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const ids = ["Uid", "Gid"].flatMap((name) => fieldOf(status, name).split("\t"));
      expect(new Set(ids).size).toBe(1);
      expect([fieldOf(status, "Groups").trim(), Number(`0x${fieldOf(status, "CapEff")}`)]).toEqual(["", 0]);
      return Number(ids[0]);
    });
    expect(new Set(users).size).toBe(2);
    expect(users.every((user) => user > 60_000)).toBe(true);
  },
);

function fieldOf(status: string, name: string): string {
  return new RegExp(`^${name}:\t(.*)$`, "m").exec(status)?.[1] ?? "missing";
}

test("what waits is bounded", async () => {
  const pool = openPool({ queueMax: 1 });
  const running = pool.takeApart(small, pageRequest(), alice);
  const waiting = pool.takeApart(small, pageRequest(), alice);
  expect(await failureOf(pool.takeApart(small, pageRequest(), alice))).toMatchObject({ failure: "busy" });
  expect((await Promise.all([running, waiting])).map(({ kind }) => kind)).toEqual(["html", "html"]);
});

describe("a document that was not read for lack of a process", () => {
  test("whose caller's time is over while it waits", async () => {
    const pool = openPool();
    await pool.takeApart(small, pageRequest(), alice);
    const running = pool.takeApart(shorter, pageRequest(), alice);
    const waiting = pool.takeApart(small, pageRequest(), { ...bob, timeoutMs: 50 });
    expect(await failureOf(waiting)).toMatchObject({ failure: "busy" });
    expect((await running).kind).toBe("html");
  });

  test("whose process has not begun", async () => {
    const pool = openPool({ taskMsMax: 1 });
    expect(await failureOf(pool.takeApart(small, pageRequest(), alice))).toMatchObject({ failure: "busy" });
  });
});

describe("processes are shared", () => {
  test("one is left to whoever has none", async () => {
    const pool = openPool({ children: 2 });
    const ends: string[] = [];
    const slowOnes = [1, 2, 3].map(() => pool.takeApart(shorter, pageRequest(), alice).then(() => ends.push("alice")));
    await pool.takeApart(small, pageRequest(), bob).then(() => ends.push("bob"));
    await Promise.all(slowOnes);
    expect(ends).toEqual(["bob", "alice", "alice", "alice"]);
  });

  test("a user has a bounded number of documents that wait, and of their bytes", async () => {
    const hangUp = new AbortController();
    const options = { ...alice, signal: hangUp.signal };
    const refused = { code: "rate_limit_exceeded", retryAfterSeconds: 5 };
    const pool = openPool();
    const some = [verySlow, ...Array.from({ length: 32 }, () => small)].map((bytes) =>
      pool.takeApart(bytes, pageRequest(), options),
    );
    const outcomes = Promise.allSettled(some);
    expect(await failureOf(pool.takeApart(small, pageRequest(), alice))).toMatchObject(refused);
    const narrow = openPool({ queueBytesMax: 4 * verySlow.length });
    const [running, waiting] = [verySlow, verySlow].map((bytes) => narrow.takeApart(bytes, pageRequest(), options));
    const others = Promise.allSettled([running, waiting]);
    expect(await failureOf(narrow.takeApart(small, pageRequest(), alice))).toMatchObject(refused);
    const ofBob = narrow.takeApart(small, pageRequest(), bob);
    hangUp.abort();
    expect((await ofBob).kind).toBe("html");
    expect([...(await outcomes), ...(await others)].every(({ status }) => status === "rejected")).toBe(true);
  });
});
