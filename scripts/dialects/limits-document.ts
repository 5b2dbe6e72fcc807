import { type FactRow, factRows } from "../../src/providers/index.ts";
import { table } from "../shared/markdown.ts";

/** `docs/wire/limits.md`: the facts about models that every path of a request reads. */
export function limitsDocument(): string {
  const sections = Object.entries(factRows).flatMap(([upstream, rows]) =>
    rows.length === 0 ? [] : [`## ${upstream}`, table(["about", "models", "in", "takes", "source"], rows.map(cellsOf))],
  );
  return `${[introduction, ...sections].join("\n\n")}\n`;
}

const introduction = `<!-- Written by "npm run generate" from src/providers/facts/. -->

# What models take

A request with something that its model does not take is changed before it is sent, if that loses nothing that matters, and the
answer's header \`x-tollgate-changes\` has the names in the first column. Of the rows about one subject, the first that matches a
model counts. A simulator refuses what its provider refuses, and \`test/facts/\` asks each of them for everything.`;

function cellsOf({ fact, models = [], dialects, rule, source }: FactRow): string[] {
  const names = models.map((glob) => `\`${glob}\``).join(", ");
  return [fact, names === "" ? "all" : names, dialects?.join(", ") ?? "all", rule, `[${source}](${source})`];
}
