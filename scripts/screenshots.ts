/**
 * `npm run screenshots`: pictures of each page of the console, light and dark, in `docs/images/`. It starts a sandbox, makes two months of
 * calls in it, and needs a Chromium.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { navigation } from "../console/src/app/navigation.ts";
import { fill, firstOffset } from "./screenshots/fill.ts";
import { root } from "./shared/steps.ts";

const images = join(root, "docs/images");

interface Sandbox {
  url: string;
  admin: string;
  stop: () => Promise<void>;
}

/** A sandbox with two months of calls. */
async function startSandbox(folder: string): Promise<Sandbox> {
  const clockFile = join(folder, "clock");
  writeFileSync(clockFile, String(firstOffset));
  const child = Bun.spawn([join(root, "bin/tollgate"), "serve", "--sandbox", "--port", "0"], {
    cwd: folder,
    env: {
      ...process.env,
      TOLLGATE_CLOCK_FILE: clockFile,
      BUN_OPTIONS: `--preload=${join(root, "scripts/screenshots/clock.ts")}`,
    },
    stdout: "pipe",
    stderr: "ignore",
  });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  const { url, admin } = await bannerOf(child.stdout);
  await fill({ url, token: admin, clockFile });
  return { url, admin, stop };
}

/** The address and the owner's token that a sandbox prints at its first start. */
async function bannerOf(output: ReadableStream<Uint8Array>): Promise<{ url: string; admin: string }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true });
    const url = /listens on (\S+)/.exec(text)?.[1];
    const admin = /admin token[^\n]*?(tg_\S+)\s/.exec(text)?.[1];
    if (url !== undefined && admin !== undefined) return { url, admin };
  }
  throw new Error(`the sandbox did not start: ${text}`);
}

/** The pages of the navigation, and one call. */
async function placesOf({ url, admin }: Sandbox): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/admin/v1/generations?limit=1&status=ok`, {
    headers: { authorization: `Bearer ${admin}` },
  });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  const pages = navigation.map(({ path }) => [path, path] as const);
  return { ...Object.fromEntries(pages), request: `requests/${data[0]?.id}` };
}

async function takePictures(context: BrowserContext, sandbox: Sandbox): Promise<void> {
  for (const [name, path] of Object.entries(await placesOf(sandbox))) {
    const page = await context.newPage();
    await page.goto(`${sandbox.url}/console/${path}`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.waitForSelector('main[aria-busy="false"] h1');
      await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
      // Plots are drawn again in the other colours.
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      await page.screenshot({ path: join(images, `${name}-${colorScheme}.png`) });
    }
    await page.close();
    console.log(name);
  }
}

const folder = mkdtempSync(join(tmpdir(), "tollgate-screenshots-"));
mkdirSync(images, { recursive: true });
const sandbox = await startSandbox(folder);
const executablePath = Bun.which("chromium") ?? Bun.which("google-chrome") ?? undefined;
const browser = await chromium.launch({
  ...(executablePath !== undefined && { executablePath }),
  args: ["--no-sandbox"],
});
try {
  const headers = { authorization: `Bearer ${sandbox.admin}` };
  const context = await browser.newContext({ viewport: { width: 1_280, height: 832 }, extraHTTPHeaders: headers });
  await takePictures(context, sandbox);
} finally {
  await browser.close();
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
}
