/** Firecrawl's own SDK for Python. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findPython, root } from "../kit/index.ts";
import { webScene } from "./web-scene.ts";

const scene = webScene(() => ({ web: { model: "openai/gpt-5-mini" } }));
const found = await findPython("test/web/python/requirements.txt");
if ("missing" in found) console.log(`skipped: firecrawl-py, ${found.missing}`);

test.skipIf("missing" in found)(
  "scrape, map and errors",
  async () => {
    const { rig, caller, site } = scene();
    const python = "python" in found ? found.python : "";
    const script = join(root, "test/web/python/scrape.py");
    const child = Bun.spawn([python, script, rig.gateway.url, caller.token, site.url], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(await child.exited, problems).toBe(0);
    const formats = {
      markdown: true,
      html: true,
      raw_html: true,
      links: true,
      images: true,
      summary: true,
      json: true,
    };
    expect(JSON.parse(output)).toMatchObject({
      markdown: expect.stringContaining("A starter that doubles in four hours") as string,
      title: "A year of sourdough in a cold kitchen",
      status: 200,
      formats,
      links: expect.arrayContaining([`${site.url}/hugo/tiny-garden`]) as string[],
      unknown_token: ["UnauthorizedError", 401],
      private: ["FirecrawlError", 422],
      slow: ["RequestTimeoutError", 408],
      unresolved: ["DNSResolutionError", 502],
      unread: ["FirecrawlError", 502],
    });
  },
  60_000,
);
