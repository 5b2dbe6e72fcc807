/** How the blocks of each client are run: the package to install, and the models that must have answered. */

export interface DocumentedClient {
  /** An npm package with its version, whose commands the block uses. */
  npm?: string;
  /** A file of pip's requirements, whose Python or commands the block uses. */
  pip?: string;
  /** Its installation takes longer than all others together: it is run with `CLIENTS=all` only. */
  isLarge?: true;
  /** The end of the answer, if the client's own words before the prompt are more than the simulated model repeats. */
  answer?: RegExp;
  /** The models that the blocks call, as the caller's generations name them. */
  models: readonly string[];
}

/** The reason why no test runs a section. */
export interface Unrun {
  reason: string;
}

const python = "test/client-blocks/requirements.txt";

export const clients: Readonly<Record<string, DocumentedClient | Unrun>> = {
  "Claude Code": { npm: "@anthropic-ai/claude-code@2.1.332", models: ["anthropic/claude-sonnet-5"] },
  Codex: { npm: "@openai/codex@0.171.0", models: ["openai/gpt-5-mini"] },
  opencode: { npm: "opencode-ai@1.18.33", models: ["anthropic/claude-sonnet-5"] },
  "Qwen Code": { npm: "@qwen-code/qwen-code@0.24.4", models: ["anthropic/claude-sonnet-5"] },
  Continue: { npm: "@continuedev/cli@1.5.47", models: ["anthropic/claude-sonnet-5"] },
  Cline: { npm: "cline@3.0.65", isLarge: true, models: ["anthropic/claude-sonnet-5"] },
  aider: { pip: "test/client-blocks/aider.txt", models: ["anthropic/claude-sonnet-5"] },
  llm: { pip: python, models: ["anthropic/claude-haiku-4-5"] },
  "Gemini CLI": {
    npm: "@google/gemini-cli@0.61.0",
    isLarge: true,
    answer: /That is all I have to say/,
    models: ["anthropic/claude-haiku-4-5"],
  },
  Cursor: { reason: "an application for the desktop" },
  "Roo Code": { reason: "an extension of an editor" },
  Zed: { reason: "an application for the desktop" },
  "Open WebUI": { reason: "a container" },
  LibreChat: { reason: "a container" },
  n8n: { reason: "an application whose settings are made by hand" },
  Browsers: { reason: "test/browsers runs pages" },
  "OpenAI, TypeScript": {
    models: [
      "anthropic/claude-haiku-4-5",
      "google/gemini-2.5-flash",
      "openai/text-embedding-3-small",
      "google/gemini-2.5-flash-image",
      "openai/tts-1",
      "xai/grok-stt",
    ],
  },
  "OpenAI, Python": { pip: python, models: ["anthropic/claude-haiku-4-5"] },
  "Azure OpenAI": { pip: python, models: ["anthropic/claude-haiku-4-5"] },
  "Groups of one provider": { reason: "a base URL for any client, which test/clients calls" },
  "BytePlus, Python": {
    pip: "test/client-blocks/byteplus.txt",
    isLarge: true,
    answer: /hello[^]*succeeded http/i,
    models: ["byteplus/seed-1-6-250915"],
  },
  "Anthropic, TypeScript": { models: ["xai/grok-4"] },
  "Anthropic, Python": { pip: python, models: ["xai/grok-4"] },
  "AI SDK": { models: ["anthropic/claude-haiku-4-5"] },
  Mastra: { npm: "@mastra/core@1.71.0", isLarge: true, models: ["anthropic/claude-haiku-4-5"] },
  LangChain: { pip: python, models: ["anthropic/claude-haiku-4-5"] },
  LlamaIndex: { pip: "test/client-blocks/llama-index.txt", isLarge: true, models: ["anthropic/claude-haiku-4-5"] },
  "Pydantic AI": { pip: python, models: ["anthropic/claude-haiku-4-5"] },
  "OpenAI Agents": { pip: python, models: ["google/gemini-2.5-flash"] },
  CrewAI: { pip: "test/client-blocks/crewai.txt", isLarge: true, models: ["anthropic/claude-haiku-4-5"] },
};
