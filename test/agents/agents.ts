/** Coding agents, each started with a base URL, a token and a model, and with nothing else but the permission to act. */
import { dirname, join } from "node:path";
import { findPython } from "../kit/index.ts";
import { findNpmClient } from "../kit/npm-client.ts";
import { type Agent, copied, edited } from "./run-agent.ts";

/** The lines that lead the simulated model through the loop: an edit of a file, then a command of the shell. */
function prompt(...calls: readonly [name: string, given: object][]): string {
  const lines = calls.map(([name, given]) => `call:${name} ${JSON.stringify(given)}`);
  return ["Please do this.", ...lines].join("\n");
}

const copy = { command: `cp ${edited} ${copied}`, description: "copies" };
/** For a tool of a server behind the gateway, which is called `notes`. */
const note = { text: "hello" };
const patch = `*** Begin Patch\n*** Add File: ${edited}\n+hello\n*** End Patch`;

const claudeCode: Agent = {
  find: () => findNpmClient("@anthropic-ai/claude-code@2.1.332"),
  start: ({ url, token, model, project }) => ({
    command: [
      "claude",
      "-p",
      prompt(
        ["Write", { file_path: join(project, edited), content: "hello\n" }],
        ["Bash", copy],
        ["mcp__notes__echo", note],
      ),
      "--permission-mode",
      "bypassPermissions",
      "--mcp-config",
      JSON.stringify({
        mcpServers: {
          notes: { type: "http", url: `${url}/mcp/notes`, headers: { Authorization: `Bearer ${token}` } },
        },
      }),
    ],
    variables: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: token,
      ANTHROPIC_MODEL: model,
      // Without it, it refuses this mode to root.
      IS_SANDBOX: "1",
      // The simulated model does not search for tools first.
      ENABLE_TOOL_SEARCH: "false",
    },
  }),
};

const codex: Agent = {
  find: () => findNpmClient("@openai/codex@0.171.0"),
  start: ({ url, token, model, home }) => ({
    command: [
      "codex",
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      prompt(
        ["exec_command", { cmd: `apply_patch <<'EOF'\n${patch}\nEOF` }],
        ["exec_command", { cmd: copy.command }],
        ["echo", note],
      ),
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
[mcp_servers.notes]
url = "${url}/mcp/notes"
bearer_token_env_var = "TOLLGATE_TOKEN"
`,
    },
  }),
};

const opencode: Agent = {
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

const qwenCode: Agent = {
  find: () => findNpmClient("@qwen-code/qwen-code@0.24.4"),
  start: ({ url, token, model, project }) => ({
    command: [
      "qwen",
      "--auth-type",
      "openai",
      "--yolo",
      "-p",
      prompt(
        ["write_file", { file_path: join(project, edited), content: "hello\n" }],
        ["run_shell_command", { ...copy, is_background: false }],
      ),
    ],
    variables: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: token, OPENAI_MODEL: model },
  }),
};

const geminiCli: Agent = {
  find: () => findNpmClient("@google/gemini-cli@0.61.0"),
  start: ({ url, token, model, project }) => ({
    command: [
      "gemini",
      "--yolo",
      "-m",
      model,
      "-p",
      prompt(["write_file", { file_path: join(project, edited), content: "hello\n" }], ["run_shell_command", copy]),
    ],
    variables: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: token, GEMINI_CLI_TRUST_WORKSPACE: "true" },
    files: {
      ".gemini/settings.json": JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } } }),
    },
  }),
};

const continueDev: Agent = {
  find: () => findNpmClient("@continuedev/cli@1.5.47"),
  start: ({ url, token, model, project, home }) => ({
    command: [
      "cn",
      "--config",
      join(home, ".continue/config.yaml"),
      "--auto",
      "-p",
      prompt(["Write", { filepath: join(project, edited), content: "hello\n" }], ["Bash", { command: copy.command }]),
    ],
    variables: { CONTINUE_CLI_ENABLE_TELEMETRY: "0" },
    files: {
      ".continue/config.yaml": `name: Tollgate
version: 1.0.0
schema: v1
models:
  - name: It
    provider: openai
    model: ${model}
    apiBase: ${url}/v1
    apiKey: ${token}
`,
    },
  }),
};

/** Its `auth` command writes this file. */
const cline: Agent = {
  find: () => findNpmClient("cline@3.0.65"),
  start: ({ url, token, model, project }) => ({
    command: [
      "cline",
      prompt(
        model.startsWith("openai/")
          ? ["apply_patch", { input: patch }]
          : ["editor", { path: join(project, edited), new_text: "hello\n" }],
        ["run_commands", { commands: [copy.command] }],
      ),
    ],
    files: {
      ".cline/data/settings/providers.json": JSON.stringify({
        version: 1,
        lastUsedProvider: "openai-compatible",
        providers: {
          "openai-compatible": {
            settings: { provider: "openai-compatible", apiKey: token, model, baseUrl: `${url}/v1` },
            updatedAt: "2026-01-01T00:00:00.000Z",
            tokenSource: "manual",
          },
        },
      }),
    },
  }),
};

/** Its tools are functions of the user's. */
const llm: Agent = {
  async find() {
    const found = await findPython("test/client-blocks/requirements.txt");
    return "missing" in found ? found : { bin: dirname(found.python) };
  },
  start: ({ url, token, model, home }) => ({
    command: [
      "llm",
      "-m",
      "it",
      "--key",
      token,
      "--functions",
      join(home, "tools.py"),
      prompt(["write", { path: edited, content: "hello\n" }], ["shell", { command: copy.command }]),
    ],
    variables: { LLM_USER_PATH: join(home, "llm") },
    files: {
      "llm/extra-openai-models.yaml": `- model_id: it
  model_name: ${model}
  api_base: ${url}/v1
  api_key_name: tollgate
  supports_tools: true
`,
      "tools.py": `import pathlib
import subprocess


def write(path: str, content: str) -> str:
    "Writes a file."
    pathlib.Path(path).write_text(content)
    return "written"


def shell(command: str) -> str:
    "Runs a command."
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout
`,
    },
  }),
};

export const agents: Readonly<Record<string, Agent>> = {
  "Claude Code": claudeCode,
  Codex: codex,
  opencode,
  aider,
  "Qwen Code": qwenCode,
  "Gemini CLI": geminiCli,
  Cline: cline,
  Continue: continueDev,
  llm,
};
