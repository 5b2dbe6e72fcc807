/** Colours of code as classes, so that the pages need no inline styles. */
import { createHighlighterCore, type HighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { createCssVariablesTheme } from "shiki/core";
import { escapeHtml } from "./html.ts";

const PREFIX = "--code-";
const theme = createCssVariablesTheme({ name: "classes", variablePrefix: PREFIX, fontStyle: false });

const languages: Readonly<Record<string, string>> = {
  sh: "bash",
  bash: "bash",
  py: "python",
  python: "python",
  ts: "typescript",
  typescript: "typescript",
  js: "typescript",
  json: "json",
  yaml: "yaml",
  toml: "toml",
};

let highlighter: HighlighterCore | undefined;

/** Loads the grammars. Call it once, before `highlighted`. */
export async function loadHighlighter(): Promise<void> {
  highlighter ??= await createHighlighterCore({
    themes: [theme],
    langs: [
      import("shiki/langs/bash.mjs"),
      import("shiki/langs/python.mjs"),
      import("shiki/langs/typescript.mjs"),
      import("shiki/langs/json.mjs"),
      import("shiki/langs/yaml.mjs"),
      import("shiki/langs/toml.mjs"),
    ],
    engine: createJavaScriptRegexEngine(),
  });
}

/** The HTML of code, each token in a `span` with the class of its kind; without colours in a language that is not known. */
function highlighted(code: string, language: string): string {
  const lang = languages[language];
  if (lang === undefined) return escapeHtml(code);
  if (highlighter === undefined) throw new Error("the highlighter is not loaded");
  // Without a limit of time: a busy machine would give other colours.
  const { tokens } = highlighter.codeToTokens(code, { lang, theme: "classes", tokenizeTimeLimit: 0 });
  return tokens.map((line) => line.map(({ content, color }) => tokenOf(content, color)).join("")).join("\n");
}

/** The kinds that have a colour of their own. */
const kinds: Readonly<Record<string, string>> = {
  "token-constant": "k-constant",
  "token-string": "k-string",
  "token-string-expression": "k-string",
  "token-comment": "k-comment",
  "token-keyword": "k-keyword",
  "token-function": "k-function",
};

function tokenOf(content: string, color: string | undefined): string {
  const name = color?.slice(`var(${PREFIX}`.length, -1) ?? "";
  const kind = kinds[name];
  const text = escapeHtml(content);
  return kind === undefined || content.trim() === "" ? text : `<span class="${kind}">${text}</span>`;
}

/** Code in a box of its own. It can be focused, so that the arrow keys scroll what is too wide. */
export function codeBlock(code: string, language: string): string {
  return `<div class="code"><pre tabindex="0"><code>${highlighted(code.trimEnd(), language)}</code></pre></div>`;
}
