/** Runs the blocks of one client as its user would: in a home directory of their own, with nothing but the address and a token. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cleanEnvironment } from "../kit/gateway.ts";
import { root } from "../kit/program.ts";
import { findNpmClient } from "../kit/npm-client.ts";
import { findPython } from "../kit/python.ts";
import type { Section } from "./blocks.ts";
import type { DocumentedClient } from "./clients.ts";

/** The address in files that know no variables, in whose place the gateway's own is used. */
const documentedUrl = "http://127.0.0.1:8787";

/** How long one block may take. */
export const blockMsMax = 120_000;

/** The folder of an installed client's commands, or the reason why there is none. */
export type Installed = { readonly bin: string } | { readonly missing: string };

export async function installClient({ npm, pip }: DocumentedClient): Promise<Installed> {
  if (npm !== undefined) return findNpmClient(npm);
  if (pip === undefined) return { bin: dirname(process.execPath) };
  const found = await findPython(pip);
  return "python" in found ? { bin: dirname(found.python) } : found;
}

interface Place {
  home: string;
  bin: string;
  url: string;
  token: string;
}

/** Runs the blocks in their order; returns what they printed. Throws if one of them fails. */
export async function runSection(
  { blocks }: Section,
  { url, bin, token }: { url: string; bin: string; token: string },
): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "tollgate-client-"));
  // A client of npm brings its own packages; the SDKs are the repository's.
  const modules = bin.endsWith("node_modules/.bin") ? dirname(bin) : join(root, "node_modules");
  symlinkSync(modules, join(home, "node_modules"));
  let printed = "";
  try {
    for (const { language, text, file } of blocks) {
      const here = text.replaceAll(documentedUrl, url);
      if (file === undefined) {
        printed += await runBlock(language, here, { home, bin, url, token });
      } else {
        mkdirSync(dirname(join(home, file)), { recursive: true });
        writeFileSync(join(home, file), here);
      }
    }
    return printed;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function runBlock(language: string, text: string, { home, bin, url, token }: Place): Promise<string> {
  const programs: Record<string, [file: string, command: string[]]> = {
    sh: ["block.sh", ["bash", "-eu"]],
    ts: ["block.ts", [process.execPath]],
    python: ["block.py", [join(bin, "python")]],
  };
  const [file, command] = programs[language] ?? [];
  if (file === undefined || command === undefined) throw new Error(`nothing runs ${language}`);
  writeFileSync(join(home, file), text);
  const child = Bun.spawn([...command, join(home, file)], {
    cwd: home,
    env: {
      ...cleanEnvironment(),
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      HOME: home,
      TOLLGATE_URL: url,
      TOLLGATE_TOKEN: token,
      // Nobody is there to be asked, and nothing but the gateway is to be called.
      CI: "true",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      AIDER_ANALYTICS: "false",
      AIDER_CHECK_UPDATE: "false",
      LITELLM_LOCAL_MODEL_COST_MAP: "true",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: blockMsMax,
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}
