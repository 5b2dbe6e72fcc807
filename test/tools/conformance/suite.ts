/** The official suite of the protocol, run in a process of its own. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const packageFolder = dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")));

export interface SuiteRun {
  side: "client" | "server";
  revision: string;
  /** The arguments that name who is tested. */
  subject: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** A folder for the results. */
  output: string;
}

/**
 * Runs what a revision requires of one side, and what the suite runs beside that; returns the required scenarios, and those of them that have
 * no success or one of the bad statuses. `isPassed` tells the same of any.
 */
export async function runSuite(
  { side, revision, subject, env, output }: SuiteRun,
  bad: readonly string[],
): Promise<{ required: readonly string[]; failed: readonly string[]; isPassed: (scenario: string) => boolean }> {
  const asked = ["--requirements", revision, ...subject, "-o", output];
  const child = Bun.spawn([process.execPath, "--bun", join(packageFolder, "dist/index.js"), side, ...asked], {
    env: { ...process.env, ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  await child.exited;
  const requirements = parse(readFileSync(join(packageFolder, "requirements", `${revision}.yaml`), "utf8")) as Record<
    typeof side,
    string[]
  >;
  const required = requirements[side];
  return { required, failed: required.filter((scenario) => !isPassed(scenario)), isPassed };

  function isPassed(scenario: string): boolean {
    // A server's scenarios have the side before their names, a client's folders before theirs.
    const path = join(output, side === "server" ? `server-${scenario}` : scenario);
    const folder = readdirSync(dirname(path)).find((name) => name.startsWith(`${basename(path)}-20`));
    if (folder === undefined) return false;
    const checks = readFileSync(join(dirname(path), folder, "checks.json"), "utf8");
    const statuses = new Set((JSON.parse(checks) as { status: string }[]).map(({ status }) => status));
    return statuses.has("SUCCESS") && !bad.some((status) => statuses.has(status));
  }
}
