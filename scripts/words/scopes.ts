/** Files whose language is counted together; glob patterns from the repository's root. */
export interface Scope {
  readonly name: string;
  readonly patterns: readonly string[];
}

/** The scopes of `npm run words`. */
export const scopes: readonly Scope[] = [
  { name: "src", patterns: ["src/**/*.ts"] },
  { name: "test, simulators", patterns: ["test/**/*.ts", "simulators/**/*.ts"] },
  { name: "bench, scripts, examples", patterns: ["{bench,scripts,examples}/**/*.{ts,mjs}"] },
  { name: "documents", patterns: ["*.md", "docs/**/*.md", "{bench,simulators,examples}/**/*.md"] },
];
