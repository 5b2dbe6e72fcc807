/** Coding agents as a user starts them: with a base URL, a token and a model, in a folder and a home of their own. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cleanEnvironment, findPython } from "../kit/index.ts";
import { findNpmClient } from "../kit/npm-client.ts";

/** Where an agent works: its project and its home. */
interface Place {
  project: string;
  home: string;
}

/** What an agent is started with. */
interface Settings extends Place {
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
  /** What the edited file contains before. */
  given?: string;
  /** Some read the prompt from their input, because they change it on the command line. */
  input?: string;
}

export interface Agent {
  name: string;
  find(): Promise<{ readonly bin: string } | { readonly missing: string }>;
  /** A model of OpenAI is offered other tools by some. */
  start(settings: Settings): Started;
}

/** The lines that lead the simulated model through the loop: an edit of a file, then a command of the shell. */
function prompt(...calls: readonly [name: string, given: object][]): string {
  const lines = calls.map(([name, given]) => `call:${name} ${JSON.stringify(given)}`);
  return ["Please do this.", ...lines].join("\n");
}

const edited = "hello.txt";
const copied = "copy.txt";
const copy = { command: `cp ${edited} ${copied}`, description: "copies" };
const patch = `*** Begin Patch\n*** Add File: ${edited}\n+hello\n*** End Patch`;

const claudeCode: Agent = {
  name: "Claude Code",
  find: () => findNpmClient("@anthropic-ai/claude-code@2.1.197"),
  start: ({ url, token, model, project }) => ({
    command: [
      "claude",
      "-p",
      prompt(["Write", { file_path: join(project, edited), content: "hello\n" }], ["Bash", copy]),
      "--permission-mode",
      "bypassPermissions",
    ],
    // Without the last one it refuses this mode to root.
    variables: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_MODEL: model, IS_SANDBOX: "1" },
  }),
};

const codex: Agent = {
  name: "Codex",
  find: () => findNpmClient("@openai/codex@0.169.0"),
  start: ({ url, token, model, home }) => ({
    command: [
      "codex",
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      prompt(["exec_command", { cmd: `apply_patch <<'EOF'\n${patch}\nEOF` }], ["exec_command", { cmd: copy.command }]),
    ],
    variables: { CODEX_HOME: join(home, ".codex"), TOLLGATE_TOKEN: token },
    files: {
      ".codex/config.toml": `model = "${model}"
model_provider = "tollgate"
[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "TOLLGATE_TOKEN"
wire_api = "responses"
`,
    },
  }),
};

const opencode: Agent = {
  name: "opencode",
  find: () => findNpmClient("opencode-ai@1.18.33"),
  start: ({ url, token, model, project }) => ({
    command: ["opencode", "run", "--model", `tollgate/${model}`],
    variables: { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" },
    input: prompt(
      model.startsWith("openai/")
        ? ["apply_patch", { patchText: patch }]
        : ["write", { filePath: join(project, edited), content: "hello\n" }],
      ["bash", copy],
    ),
    files: {
      ".config/opencode/opencode.json": JSON.stringify({
        permission: { edit: "allow", bash: "allow" },
        provider: {
          tollgate: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: token },
            models: { [model]: { name: model } },
          },
        },
      }),
    },
  }),
};

/** It has no tools: the model's text contains the edit, and a command of the user's runs after each edit. */
const aider: Agent = {
  name: "aider",
  async find() {
    const found = await findPython("test/client-blocks/aider.txt");
    return "missing" in found ? found : { bin: dirname(found.python) };
  },
  start({ url, token, model }) {
    const fence = "```";
    const edit = `${edited}\n${fence}\n<<<<<<< SEARCH\nold\n=======\nhello\n>>>>>>> REPLACE\n${fence}\n`;
    return {
      command: [
        "aider",
        "--model",
        `openai/${model}`,
        "--edit-format",
        "diff",
        "--yes-always",
        "--no-git",
        "--no-analytics",
        "--no-check-update",
        "--no-show-model-warnings",
        "--auto-test",
        "--test-cmd",
        copy.command,
        "--message",
        `Change it.\nreply:${JSON.stringify(edit)}`,
        edited,
      ],
      given: "old\n",
      variables: { OPENAI_API_BASE: `${url}/v1`, OPENAI_API_KEY: token, LITELLM_LOCAL_MODEL_COST_MAP: "true" },
    };
  },
};

export const agents: readonly Agent[] = [claudeCode, codex, opencode, aider];

/** How long a run may take under load. */
const runMsMax = 150_000;

/** What a run has left behind: the contents of the edited file and of its copy, and what the agent printed. */
export interface Outcome {
  edited: string | undefined;
  copied: string | undefined;
  printed: string;
}

/** Runs an agent to its end. */
export async function run(agent: Agent, bin: string, settings: Omit<Settings, keyof Place>): Promise<Outcome> {
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
