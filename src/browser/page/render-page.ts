/**
 * One scrape, in a browser context of its own that nothing survives:
 *
 *   context ──▶ page ──goto──▶ loaded ──▶ quiet ──▶ actions ──▶ picture, document ──▶ context closed
 *
 * From "loaded" on, a page that never gets there counts as it is, after a bound. The deadline ends any step.
 */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  devices,
  type Page,
} from "playwright-core";
import { BrowserError } from "../browser-error.ts";
import type { Credentials, GuardedProxy } from "../proxy/guarded-proxy.ts";
import type { ProxyPass } from "../proxy/proxy-pass.ts";
import type { ChildPageRequest, RenderedPage } from "../render-request.ts";
import { isAdHost } from "./ad-hosts.ts";
import { type CallerHeaders, sortHeaders } from "./caller-headers.ts";
import type { Deadline } from "./deadline.ts";
import { interceptRequests } from "./intercept-requests.ts";
import { IsolatedWorld } from "./isolated-world.ts";
import { localeOf } from "./locale.ts";
import { isEmptyAnswer, Navigations } from "./navigations.ts";
import { navigationError } from "./page-error.ts";
import { readHtml } from "./read-html.ts";
import { runActions } from "./run-actions.ts";
import { takeScreenshot } from "./screenshot.ts";

const passBounds = { connectionsMax: 64, connectionsInAllMax: 2_000, bytesMax: 64 * 1024 * 1024 };

/** How long a page may load its parts, and how long its requests may go on behind that. */
const LOAD_MS_MAX = 10_000;
const QUIET_MS_MAX = 3_000;

/** How long a page that shows nothing may take to show something, behind all that, and how often it is looked at. */
const EMPTY_MS_MAX = 3_000;
const EMPTY_PAUSE_MS = 100;

/** How long a context may take to close. A page that is busy with its own script is ended by force. */
const CLOSE_MS_MAX = 5_000;

const desktop = { width: 1_920, height: 1_080 };

export interface RenderOptions {
  browser: Browser;
  proxy: GuardedProxy;
  /** The address of the proxy. */
  proxyAddress: string;
  request: ChildPageRequest;
  deadline: Deadline;
  /** The page has loaded; what follows is what the request asks of it. */
  onLoaded: () => void;
  /** The context did not close in time. */
  onStuck: () => void;
}

interface Scene {
  context: BrowserContext;
  page: Page;
  session: CDPSession;
  world: IsolatedWorld;
  navigations: Navigations;
  pass: ProxyPass;
  deadline: Deadline;
}

/** Rejects with a `BrowserError`. Resolves, and rejects, once the context is closed. */
export async function renderPage(options: RenderOptions): Promise<RenderedPage> {
  const { browser, proxy, proxyAddress, request, deadline } = options;
  const own = new URL(request.url);
  const isUnwanted = (host: string): boolean => request.blockAds === true && host !== own.hostname && isAdHost(host);
  const { pass, credentials } = proxy.issue(passBounds, isUnwanted);
  const headers = sortHeaders(request.headers ?? {});
  const opening = browser.newContext(contextOptions(request, { headers, proxyAddress, version: browser.version() }));
  try {
    const context = await deadline.bound(opening);
    const scene = await deadline.bound(openPage(context, { request, headers, credentials, pass, deadline }));
    await load(scene, request);
    options.onLoaded();
    if (request.waitForMs !== undefined) await deadline.bound(Bun.sleep(request.waitForMs));
    return await takeApart(scene, request);
  } catch (cause) {
    const known = cause instanceof BrowserError ? cause : new BrowserError("crashed", "its page ended", { cause });
    throw deadline.reasonOr(known);
  } finally {
    deadline.clear();
    pass.end();
    await close(opening, options.onStuck);
  }
}

async function close(opening: Promise<BrowserContext>, onStuck: () => void): Promise<void> {
  const timer = setTimeout(onStuck, CLOSE_MS_MAX);
  await opening.then((context) => context.close()).catch(() => undefined);
  clearTimeout(timer);
}

interface ContextDetails {
  headers: CallerHeaders;
  proxyAddress: string;
  version: string;
}

function contextOptions(
  request: ChildPageRequest,
  { headers, proxyAddress, version }: ContextDetails,
): BrowserContextOptions {
  const { mobile = false, screenshot, location } = request;
  const { locale, timezoneId } = localeOf(location);
  const phone = devices["Pixel 7"];
  const device = mobile && phone !== undefined ? phone : { viewport: desktop, userAgent: desktopAgent };
  return {
    ...device,
    ...(screenshot?.viewport && { viewport: screenshot.viewport }),
    // Many sites send an empty page to a browser that calls itself headless.
    userAgent:
      headers.userAgent ?? device.userAgent.replace(/Chrome\/[\d.]+/, `Chrome/${version.split(".")[0] ?? ""}.0.0.0`),
    locale,
    timezoneId,
    proxy: { server: proxyAddress, bypass: "<-loopback>" },
    serviceWorkers: "block",
    acceptDownloads: false,
    permissions: [],
  };
}

const desktopAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/0 Safari/537.36";

interface PageDetails {
  request: ChildPageRequest;
  headers: CallerHeaders;
  credentials: Credentials;
  pass: ProxyPass;
  deadline: Deadline;
}

/** Closed shadow roots are made open ones, before any script of the page runs: what they show is a part of the page. */
const openRoots = `{
  const { apply } = Reflect;
  Element.prototype.attachShadow = new Proxy(Element.prototype.attachShadow, {
    apply: (attach, element, given) => {
      const [options] = given;
      const isClosed = typeof options === "object" && options !== null && options.mode === "closed";
      return apply(attach, element, isClosed ? [{ ...options, mode: "open" }] : given);
    },
  });
}`;

async function openPage(context: BrowserContext, details: PageDetails): Promise<Scene> {
  const { request, headers, credentials, pass, deadline } = details;
  const { url } = request;
  if (headers.cookies.length > 0) await context.addCookies(headers.cookies.map((cookie) => ({ ...cookie, url })));
  await context.addInitScript(openRoots);
  const page = await context.newPage();
  // Other windows cost, and nobody sees them.
  context.on("page", (other) => void other.close().catch(() => undefined));
  page.on("crash", () => deadline.end(new BrowserError("crashed", "its page crashed")));
  page.on("download", (download) => void download.cancel().catch(() => undefined));
  const session = await context.newCDPSession(page);
  const { languages } = localeOf(request.location);
  const userAgent = String(await page.evaluate("navigator.userAgent"));
  await session.send("Emulation.setUserAgentOverride", { userAgent, acceptLanguage: languages.join(",") });
  await interceptRequests({ session, origin: new URL(url).origin, headers: headers.sent, credentials });
  return {
    context,
    page,
    session,
    world: new IsolatedWorld(session),
    navigations: new Navigations(page),
    pass,
    deadline,
  };
}

async function load({ page, world, navigations, pass, deadline }: Scene, request: ChildPageRequest): Promise<void> {
  try {
    await deadline.bound(page.goto(request.url, { waitUntil: "commit", timeout: deadline.leftMs }));
  } catch (cause) {
    if (deadline.isOver) throw cause;
    const { failed, response } = navigations;
    const text = failed?.text ?? (cause instanceof Error ? cause.message : "");
    if (!isEmptyAnswer(text) || response === undefined)
      throw failureOf({ url: failed?.url ?? request.url, text }, pass);
  }
  if (isDocument(navigations.response?.headers()["content-type"])) {
    throw new BrowserError("not_a_page", "it answers with a file instead of a page");
  }
  await reach(page, "load", Math.min(LOAD_MS_MAX, deadline.leftMs / 2), deadline);
  await reach(page, "networkidle", Math.min(QUIET_MS_MAX, deadline.leftMs / 4), deadline);
  await reachContent(world, Math.min(EMPTY_MS_MAX, deadline.leftMs / 4), deadline);
}

/** Documents that the browser shows in a viewer of its own. */
const isDocument = (contentType = ""): boolean => contentType.startsWith("application/pdf");

/** Waits for a state of the page, which it may never reach. */
async function reach(page: Page, state: "load" | "networkidle", timeout: number, deadline: Deadline): Promise<void> {
  await deadline.bound(page.waitForLoadState(state, { timeout }).catch(() => undefined));
}

/** Whether the page shows anything. The text of shadow roots is no part of the others' text. */
const showsContent = `(() => {
  const { body } = document;
  if (body === null) return false;
  if (body.innerText === undefined || body.innerText.trim() !== "") return true;
  if (body.querySelector("img, svg, canvas, video, audio, iframe, embed, object, frame") !== null) return true;
  return [...body.querySelectorAll("*")].some(({ shadowRoot }) => shadowRoot !== null);
})()`;

/** Applications may draw their first page after their requests. */
async function reachContent(world: IsolatedWorld, milliseconds: number, deadline: Deadline): Promise<void> {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    // A page that navigates meanwhile is looked at again.
    const isThere = await deadline.bound(world.evaluate(showsContent).catch(() => false));
    if (isThere === true) return;
    await deadline.bound(Bun.sleep(EMPTY_PAUSE_MS));
  }
}

async function takeApart(scene: Scene, request: ChildPageRequest): Promise<RenderedPage> {
  const { page, world, deadline, navigations, pass } = scene;
  const actions = request.actions && (await runActions(request.actions, scene));
  const { screenshot: settings } = request;
  const screenshot = settings && (await takeScreenshot({ page, world, deadline, settings }));
  const document = await readHtml(world, deadline, { marked: true });
  const { response, failed } = navigations;
  const isErrorPage = page.url().startsWith("chrome-error:");
  if (failed !== undefined && isErrorPage) throw failureOf(failed, pass);
  if (response === undefined) throw new BrowserError("unreachable", "its host did not answer");
  const headers = response.headers();
  return {
    url: isErrorPage ? response.url() : page.url(),
    status: response.status(),
    headers,
    contentType: headers["content-type"],
    html: isErrorPage ? new Uint8Array() : document,
    ...(screenshot && { screenshot }),
    ...(actions && { actions }),
    ...(pass.isExhausted && {
      warning: `The page has more than ${passBounds.bytesMax} bytes; the rest was not loaded.`,
    }),
  };
}

function failureOf({ url, text }: { url: string; text: string }, pass: ProxyPass): BrowserError {
  if (pass.isExhausted) return new BrowserError("too_large", `it has more than ${passBounds.bytesMax} bytes`);
  return navigationError(text, URL.canParse(url) ? pass.verdictOn(new URL(url)) : undefined);
}
