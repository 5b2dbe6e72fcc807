/** A browser as the gateway has it, and a site on loopback that it may reach. */
import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import {
  Browser,
  BrowserError,
  type BrowserOptions,
  type RenderRequest,
  type RenderedPage,
} from "../../../src/browser/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { root } from "../../kit/index.ts";

/** A browser with a sandbox: the options of a test's own are laid over. */
export function browserWith(options: Partial<BrowserOptions> = {}): Browser {
  return new Browser({
    isEnabled: true,
    // One of several that a machine has: CHROMIUM=/usr/bin/chromium npm test -- test/web/browser
    executable: process.env["CHROMIUM"],
    sandbox: true,
    pagesMax: 4,
    idleMs: 60_000,
    allowPrivateHosts: [],
    allowPorts: [80, 443],
    script: join(root, "src/app/browser-child.ts"),
    path: process.env["PATH"] ?? "",
    randomFraction: Math.random,
    logger: createLogger({ level: "error" }),
    ...options,
  });
}

const found = browserWith().available();

/** Tests with a browser are skipped. */
export const hasNoBrowser = "missing" in found;
if ("missing" in found) console.log(`skipped: ${found.missing}`);

/** The first start of Chromium on a busy machine takes long. */
export const browserMs = 60_000;

interface Seen {
  method: string;
  path: string;
  headers: Headers;
}

export type Answer = (request: Request, url: URL) => Response | Promise<Response> | undefined;

/** A server on loopback that records what it is asked. */
export class Site {
  readonly seen: Seen[] = [];
  readonly server: Bun.Server<undefined>;

  constructor(answer: Answer) {
    this.server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: async (request) => {
        const url = new URL(request.url);
        this.seen.push({ method: request.method, path: url.pathname, headers: request.headers });
        return (await answer(request, url)) ?? new Response("no such page", { status: 404 });
      },
    });
  }

  get host(): string {
    return `127.0.0.1:${this.server.port}`;
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  /** The requests of a path. */
  at(wanted: string): Seen[] {
    return this.seen.filter((each) => each.path === wanted);
  }
}

export const html = (text: string, headers: Record<string, string> = {}): Response =>
  new Response(text, { headers: { "content-type": "text/html; charset=utf-8", ...headers } });

export interface BrowserScene {
  browser: Browser;
  site: Site;
  render: (path: string, request?: Partial<RenderRequest>) => Promise<RenderedPage>;
  /** The failure of a scrape that must fail. */
  failureOf: (path: string, request?: Partial<RenderRequest>) => Promise<BrowserError>;
}

/** Set up before the tests of a describe block, and ended after them. */
export function browserScene(answer: Answer, options: Partial<BrowserOptions> = {}): BrowserScene {
  const scene = {} as BrowserScene;
  beforeAll(() => {
    const site = new Site(answer);
    const browser = browserWith({ allowPrivateHosts: [site.host], ...options });
    const render: BrowserScene["render"] = (target, request) =>
      browser.render({
        owner: "alice",
        url: /^https?:/.test(target) ? target : site.url(target),
        timeoutMs: 30_000,
        ...request,
      });
    const failureOf: BrowserScene["failureOf"] = async (target, request) => {
      try {
        await render(target, request);
      } catch (thrown) {
        if (thrown instanceof BrowserError) return thrown;
        throw thrown;
      }
      throw new Error(`${target} was rendered`);
    };
    Object.assign(scene, { site, browser, render, failureOf });
  });
  afterAll(async () => {
    await scene.browser.close();
    await scene.site.server.stop(true);
  }, browserMs);
  return scene;
}

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
