/** Pages of other origins in a real browser, with both official SDKs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import {
  type Gateway,
  hasChromium,
  type Rig,
  requestIdShape,
  root,
  startChromium,
  startGateway,
  startRig,
} from "../kit/index.ts";
import type { Seen } from "./page.ts";

/** Serves the page; each server is an origin. */
async function servePage(): Promise<Bun.Server<undefined>> {
  const { outputs } = await Bun.build({ entrypoints: [join(root, "test/browsers/page.ts")], target: "browser" });
  const script = (await outputs[0]?.text()) ?? "";
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/page.js": () => new Response(script, { headers: { "content-type": "text/javascript" } }),
      "/*": () =>
        new Response(`<!doctype html><title>Page</title><script type="module" src="/page.js"></script>`, {
          headers: { "content-type": "text/html" },
        }),
    },
  });
}

describe.skipIf(!hasChromium)("a page that calls with the SDK of", () => {
  let rig: Rig;
  let token: string;
  let browser: Browser;
  let permitted: Bun.Server<undefined>;
  let foreign: Bun.Server<undefined>;
  beforeAll(async () => {
    [permitted, foreign] = await Promise.all([servePage(), servePage()]);
    rig = await startRig({ config: { server: { cors: { origins: [permitted.url.origin] } } } });
    ({ token } = await rig.caller());
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.close();
    await rig.stop();
    await Promise.all([permitted.stop(true), foreign.stop(true)]);
  });

  async function seenBy(server: Bun.Server<undefined>, sdk: "openai" | "anthropic", key = token): Promise<Seen> {
    const tab = await browser.newPage();
    try {
      await tab.goto(server.url.href);
      await tab.waitForFunction("typeof run === 'function'", undefined, { timeout: 10_000 });
      return await tab.evaluate<Seen>(
        `run(${JSON.stringify(sdk)}, ${JSON.stringify(rig.gateway.url)}, ${JSON.stringify(key)})`,
      );
    } finally {
      await tab.close();
    }
  }

  test.each<["openai" | "anthropic"]>([["openai"], ["anthropic"]])(
    "%s reads answers, streams and headers",
    async (sdk) => {
      const seen = await seenBy(permitted, sdk);
      expect(seen["failure"]).toBeUndefined();
      expect(seen["text"]).not.toBe("");
      expect(seen["streamed"]).toBe(seen["text"] ?? "");
      expect(seen["requestId"]).toMatch(requestIdShape);
      expect(Number(seen["credits"])).toBeGreaterThan(0);
      if (sdk === "openai") expect(seen["firstModel"]).toStartWith("openai/");
    },
    30_000,
  );

  test.each<["openai" | "anthropic"]>([["openai"], ["anthropic"]])(
    "%s reads a refusal, with the request's id",
    async (sdk) => {
      const seen = await seenBy(permitted, sdk, "tg_wrong");
      expect(seen["failure"]).toBe("401");
      expect(seen["requestId"]).toMatch(requestIdShape);
    },
    30_000,
  );

  test.each<["openai" | "anthropic"]>([["openai"], ["anthropic"]])(
    "%s gets nothing at another origin, and no call is made",
    async (sdk) => {
      const before = rig.simulators.requests().length;
      expect((await seenBy(foreign, sdk))["failure"]).toBe("Connection error.");
      expect(rig.simulators.requests()).toHaveLength(before);
    },
    30_000,
  );
});

describe("pages may call", () => {
  let gateway: Gateway;
  const preflight = async () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    });

  test.each<[string, readonly string[], object, string | null]>([
    ["a sandbox, from any origin", ["--sandbox"], {}, "*"],
    ["no gateway without the setting", [], {}, null],
    ["no sandbox that has an empty list of origins", ["--sandbox"], { cors: { origins: [] } }, null],
  ])("%s", async (_title, args, server, allowed) => {
    const openai = { kind: "openai", base_url: "https://api.openai.com/v1", api_key: "" };
    gateway = await startGateway({ providers: { openai }, arguments: args, config: { server } });
    const { status, headers } = await preflight();
    expect([status, headers.get("access-control-allow-origin")]).toEqual([allowed === null ? 404 : 204, allowed]);
    await gateway.stop();
  });
});
