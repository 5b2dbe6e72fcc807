/** Runs a coding agent as a user starts it: in a folder and a home of its own. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cleanEnvironment } from "../kit/index.ts";

/** The folders of an agent: its project and its home. */
export interface Place {
  project: string;
  home: string;
}

/** The start of an agent. */
export interface Settings extends Place {
  url: string;
  token: string;
  model: string;
}

interface Started {
  /** Without the folder of its program. */
  command: readonly string[];
  variables?: Record<string, string>;
  /** Files of its configuration, by their place in the home. */
  files?: Record<string, string>;
  /** The contents of the edited file before. */
  given?: string;
  /** Some read the prompt from their input, because they change it on the command line. */
  input?: string;
}

export interface Agent {
  find(): Promise<{ readonly bin: string } | { readonly missing: string }>;
  /** A model of OpenAI is offered other tools by some. */
  start(settings: Settings): Started;
}

/** The file that the agent edits, and the one that its command makes of it. */
export const edited = "hello.txt";
export const copied = "copy.txt";

/** For a run that hangs. Three at once on two busy processors may take minutes, most of them before the first request. */
const runMsMax = 400_000;

/** The outcome of a run: the contents of the edited file and of its copy, and what the agent printed. */
export interface Outcome {
  edited: string | undefined;
  copied: string | undefined;
  printed: string;
}

/** Runs an agent to its end. */
export async function runAgent(agent: Agent, bin: string, settings: Omit<Settings, keyof Place>): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-agent-"));
  const place: Place = { project: join(folder, "project"), home: join(folder, "home") };
  try {
    mkdirSync(place.project);
    mkdirSync(place.home);
    const { command, variables, files = {}, given, input = "" } = agent.start({ ...settings, ...place });
    if (given !== undefined) writeFileSync(join(place.project, edited), given);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(place.home, name)), { recursive: true });
      writeFileSync(join(place.home, name), text);
    }
    const [program = "", ...rest] = command;
    const child = Bun.spawn([join(bin, program), ...rest], {
      cwd: place.project,
      env: cleanEnvironment({ HOME: place.home, TERM: "dumb", ...variables }),
      stdin: new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
      timeout: runMsMax,
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    const read = (name: string): string | undefined => {
      const file = join(place.project, name);
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    };
    return { edited: read(edited), copied: read(copied), printed: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
