/** A real Chromium for tests, if the machine has one. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Debian, Ubuntu and Google's packages put it. */
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
if (executablePath === undefined) console.log("skipped: no Chromium on this machine (apt-get install chromium)");

export const hasChromium = executablePath !== undefined;

/** Starts it, as root too. Its sandbox needs rights that containers do not have. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
}
