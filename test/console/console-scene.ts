/** The console of a gateway with some calls, in a real Chromium. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Rig, startChromium, startRig } from "../kit/index.ts";

export interface ConsoleScene {
  rig: Rig;
  /** An owner's token. */
  admin: string;
  browser: Browser;
  /** In which the owner is signed in. */
  context: BrowserContext;
  /** Everything that a page should not do: violations of the policy, errors of scripts, requests to other hosts. */
  mishaps: string[];
  /** The answer of the API, asked by the owner. */
  api<Answer>(path: string): Promise<Answer>;
  /** Opens a page of the console and waits until it has loaded. */
  open(path: string): Promise<Page>;
  close(): Promise<void>;
}

/** Starts a gateway and a browser in which an owner is signed in. */
export async function openConsole(): Promise<ConsoleScene> {
  const rig = await startRig({ config: { batches: { native: "off" } } });
  const admin = await rig.gateway.token({ user: "admin", role: "owner" });
  const browser = await startChromium();
  const context = await browser.newContext();
  const mishaps: string[] = [];
  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage();
    watch(page, rig.gateway.url, mishaps);
    await page.goto(`${rig.gateway.url}${path}`);
    await loaded(page);
    return page;
  };
  const first = await open("/console/sign-in");
  await signIn(first, admin);
  await first.close();
  mishaps.splice(0, mishaps.length, ...mishaps.filter((text) => !isRefusal(text)));
  const api = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(`${rig.gateway.url}${path}`, { headers: { authorization: `Bearer ${admin}` } });
    return (await answer.json()) as Answer;
  };
  return { rig, admin, browser, context, mishaps, api, open, close: () => closeAll(rig, browser) };
}

/** A browser reports each refused request; before the sign-in the session is asked for in vain. */
const isRefusal = (text: string): boolean => text.includes("status of 401");

async function closeAll(rig: Rig, browser: Browser): Promise<void> {
  await browser.close();
  await rig.stop();
}

/** Signs a browser in as a user does, by the page. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/console\/(?!sign-in)/);
  await loaded(page);
}

/** Waits until a page shows its figures. */
export async function loaded(page: Page): Promise<void> {
  await page.waitForSelector('main[aria-busy="false"] h1', { timeout: 20_000 });
}

function watch(page: Page, url: string, mishaps: string[]): void {
  page.on("console", (message) => {
    if (message.type() === "error") mishaps.push(message.text());
  });
  page.on("pageerror", (error) => mishaps.push(error.message));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(`${url}/`) || /^(data|blob):/.test(request.url());
    if (!isOwn) mishaps.push(`request to ${request.url()}`);
  });
}

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface AxeResult {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** The rules of axe that a page breaks, each with the first element. The policy keeps scripts out, but not the debugger's. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResult>("axe.run()");
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
