import type { Step } from "./steps.ts";

/** The steps of `npm run check`; the slow ones first, because two run in parallel. */
export const checkSteps: readonly Step[] = [
  { name: "types", command: ["tsc", "--noEmit"] },
  { name: "types of the console", command: ["tsc", "--noEmit", "-p", "console"] },
  { name: "lint", command: ["oxlint", "--format=unix"] },
  { name: "dead code", command: ["knip"] },
  { name: "format", command: ["oxfmt", "--list-different"] },
  { name: "import rule", command: ["bun", "scripts/import-rule.ts"] },
  { name: "sizes", command: ["bun", "scripts/sizes.ts"] },
  { name: "generated files", command: ["bun", "scripts/generate.ts", "--check"] },
];

/** Two at once: the tools use several threads each, and more would only fight for the cores of a small machine. */
export const checksAtOnce = 2;
