/** The actions of a scrape, one after the other. */
import type { CDPSession, Locator, Page } from "playwright-core";
import { BrowserError } from "../browser-error.ts";
import type { ActionResults, PageAction } from "../render-request.ts";
import type { Deadline } from "./deadline.ts";
import type { IsolatedWorld } from "./isolated-world.ts";
import type { Navigations } from "./navigations.ts";
import { readHtml } from "./read-html.ts";
import { runScript } from "./run-script.ts";
import { takeScreenshot } from "./screenshot.ts";

/** How long an element may take to appear. */
const ELEMENT_MS_MAX = 15_000;

/** How long an element that is there may be covered or moving before it is clicked by an event instead of the mouse. */
const CLICKABLE_MS_MAX = 2_000;

/** Elements of a click on all. */
const CLICKS_MAX = 100;

/** Bytes of all results of the actions. */
const RESULT_BYTES_MAX = 64 * 1024 * 1024;

export interface ActionScene {
  page: Page;
  session: CDPSession;
  world: IsolatedWorld;
  deadline: Deadline;
  navigations: Navigations;
}

/** Rejects with a `BrowserError`: `action` with the index of the one that failed, unless the page or the time is over. */
export async function runActions(actions: readonly PageAction[], scene: ActionScene): Promise<ActionResults> {
  const results: ActionResults = { screenshots: [], scrapes: [], javascriptReturns: [], pdfs: [] };
  for (const [index, action] of actions.entries()) {
    try {
      await scene.deadline.bound(runAction(action, { scene, results }));
    } catch (cause) {
      throw actionError(cause, { index, action, deadline: scene.deadline });
    }
    if (bytesOf(results) > RESULT_BYTES_MAX) {
      throw new BrowserError("too_large", `the results of its actions are larger than ${RESULT_BYTES_MAX} bytes`);
    }
  }
  return results;
}

interface Run {
  scene: ActionScene;
  results: ActionResults;
}

async function runAction(action: PageAction, { scene, results }: Run): Promise<void> {
  const { page, world, deadline, navigations } = scene;
  switch (action.type) {
    case "wait":
      return await wait(action, scene);
    case "click":
      await click(action, scene);
      return await navigations.settled(deadline);
    case "write":
      return await page.keyboard.type(action.text);
    case "press":
      await page.keyboard.press(action.key);
      return await navigations.settled(deadline);
    case "scroll":
      return await scroll(action, scene);
    case "screenshot":
      return void results.screenshots.push(await takeScreenshot({ page, world, deadline, settings: action }));
    case "scrape":
      return void results.scrapes.push({ html: await readHtml(world, deadline), url: page.url() });
    case "executeJavascript":
      results.javascriptReturns.push(await runScript(scene.session, action.script));
      return await navigations.settled(deadline);
    case "pdf": {
      const { format = "Letter", landscape = false, scale = 1 } = action;
      return void results.pdfs.push(await page.pdf({ format, landscape, scale, printBackground: true }));
    }
  }
}

async function wait(action: PageAction & { type: "wait" }, { page, deadline }: ActionScene): Promise<void> {
  if ("milliseconds" in action) return await Bun.sleep(action.milliseconds);
  await elementOf(page, action.selector).waitFor({ timeout: elementMs(deadline) });
}

async function click(action: PageAction & { type: "click" }, { page, deadline }: ActionScene): Promise<void> {
  const { selector, all = false } = action;
  if (!all) return await clickOne(elementOf(page, selector), deadline);
  const found = page.locator(`css=${selector}`);
  const count = Math.min(await found.count(), CLICKS_MAX);
  for (let at = 0; at < count; at += 1) {
    // A click may remove the elements behind it.
    if (at < (await found.count())) await clickOne(found.nth(at), deadline);
  }
}

async function clickOne(element: Locator, deadline: Deadline): Promise<void> {
  await element.waitFor({ state: "attached", timeout: elementMs(deadline) });
  try {
    // A click that began a navigation would wait for it, and be repeated below.
    // oxlint-disable-next-line typescript/no-deprecated -- it has no successor before it becomes the default
    await element.click({ timeout: Math.min(CLICKABLE_MS_MAX, deadline.leftMs), noWaitAfter: true });
  } catch {
    await element.dispatchEvent("click", {}, { timeout: elementMs(deadline) });
  }
}

/** By the height of the scrolled element, as by Page Down. */
async function scroll(action: PageAction & { type: "scroll" }, { page, world, deadline }: ActionScene): Promise<void> {
  const { direction = "down", selector } = action;
  const sign = direction === "up" ? -1 : 1;
  if (selector === undefined) {
    await world.evaluate(`window.scrollBy({ top: ${sign} * innerHeight, behavior: "instant" })`);
    return;
  }
  await elementOf(page, selector).waitFor({ state: "attached", timeout: elementMs(deadline) });
  const element = `document.querySelector(${JSON.stringify(selector)})`;
  await world.evaluate(`(() => {
    const element = ${element};
    element.scrollBy({ top: ${sign} * element.clientHeight, behavior: "instant" });
  })()`);
}

const elementOf = (page: Page, selector: string): Locator => page.locator(`css=${selector}`).first();

const elementMs = (deadline: Deadline): number => Math.min(ELEMENT_MS_MAX, deadline.leftMs);

interface FailedAction {
  index: number;
  action: PageAction;
  deadline: Deadline;
}

function actionError(cause: unknown, { index, action, deadline }: FailedAction): unknown {
  if (deadline.isOver) return deadline.reasonOr(cause);
  if (cause instanceof BrowserError) return cause;
  // Playwright's messages begin with the name of a method and end with a log.
  const message = cause instanceof Error ? cause.message : String(cause);
  const [first = ""] = message.split("\n");
  const why = /Timeout \d+ms exceeded/.test(first)
    ? "there is no such element"
    : first.replace(/^[a-z]\w*(\.\w+)?: /, "");
  return new BrowserError("action", `action ${index} (${action.type}) failed: ${why}`, { action: index, cause });
}

function bytesOf({ screenshots, scrapes, pdfs, javascriptReturns }: ActionResults): number {
  const lengths = [
    ...screenshots.map(({ bytes }) => bytes.length),
    ...scrapes.map(({ html }) => html.length),
    ...pdfs.map(({ length }) => length),
    ...javascriptReturns.map(({ value }) => JSON.stringify(value)?.length ?? 0),
  ];
  return lengths.reduce((sum, length) => sum + length, 0);
}
