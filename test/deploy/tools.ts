/** The programs that check the files of deploy/, as far as this machine has them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../kit/cache-folder.ts";

export const toolFolder = join(cacheFolder, "deploy-tools");

/** Those that `npm run deploy:tools` builds, as modules of Go. */
export const builtTools = {
  actionlint: "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12",
  helm: "helm.sh/helm/v3/cmd/helm@v3.19.0",
} as const;

/** The program's path; undefined, with a line in the output, if there is none. */
export function findTool(name: keyof typeof builtTools | "systemd-analyze"): string | undefined {
  const found = existsSync(join(toolFolder, name)) ? join(toolFolder, name) : Bun.which(name);
  if (found !== null) return found;
  const how = name in builtTools ? "npm run deploy:tools builds it" : "it is a part of systemd";
  console.log(`skipped: no ${name} on this machine (${how})`);
  return undefined;
}

/** Runs a program to its end. */
export function run(command: readonly string[]): { code: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  return { code: exitCode, output: `${stdout.toString()}${stderr.toString()}` };
}
