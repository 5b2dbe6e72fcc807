/** Firecrawl's own SDK for Python: crawl, batch and search. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { findPython, type Rig, root, startRig } from "../kit/index.ts";
import { startTarget, type Target } from "./target.ts";

const found = await findPython("test/web/python/requirements.txt");
if ("missing" in found) console.log(`skipped: firecrawl-py, ${found.missing}`);

let target: Target;
let rig: Rig;
beforeAll(async () => {
  target = startTarget();
  rig = await startRig({ config: { web: { allow_private_hosts: [target.host], crawl: { pages_per_second: 0 } } } });
});
afterAll(async () => {
  await rig.stop();
  await target.stop();
});

test.skipIf("missing" in found)(
  "crawl, batch and search",
  async () => {
    const { token } = await rig.caller();
    const python = "python" in found ? found.python : "";
    const script = join(root, "test/web/python/crawl.py");
    const child = Bun.spawn([python, script, rig.gateway.url, token, target.url("")], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(await child.exited, problems).toBe(0);
    expect(JSON.parse(output)).toEqual({
      crawl: ["completed", 1, ["/start"], 0],
      batch: ["completed", 2, ["/one", "/two"], null],
      errors: [[], []],
      active: true,
      cancelled: [true, "cancelled"],
      found: ["/one", "/start", "/two"],
      read: [true],
      unknown: ["FirecrawlError", 404],
    });
  },
  60_000,
);
