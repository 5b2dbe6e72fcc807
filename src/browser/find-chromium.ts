import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

/** The names that packages give to Chromium, Chrome and Edge. The shells lack a user interface, and need half the CPU. */
const names: readonly string[] = [
  "chromium-headless-shell",
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
  "microsoft-edge-stable",
];

/** Behind the folders of PATH: a service often has a short one. */
const places: readonly string[] = [
  "/usr/bin",
  "/usr/local/bin",
  "/usr/lib/chromium",
  "/opt/google/chrome",
  "/opt/microsoft/msedge",
  "/snap/bin",
];

const applications: readonly string[] = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/** The executable of a browser of Chromium's family on this machine. */
export function findChromium(path: string): string | undefined {
  const folders = [...path.split(":").filter((folder) => folder.startsWith("/")), ...places];
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...candidates, ...applications].find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
