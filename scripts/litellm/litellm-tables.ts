import { configFields, databaseFields, type ImportedFieldRule, importedProviders } from "../../src/litellm/index.ts";
import { between, table } from "../shared/markdown.ts";

const fieldsBegin = '<!-- Written by "npm run generate" from src/litellm: -->';
const fieldsEnd = "<!-- End of the generated tables. -->";

type Rules = Readonly<Record<string, ImportedFieldRule>>;

/** Returns docs/from-litellm.md with its tables regenerated. Throws if the markers around them are missing. */
export function withLitellmTables(document: string): string {
  return between(document, fieldsBegin, fieldsEnd, [configTables(), databaseTables()].join("\n\n"));
}

function configTables(): string {
  const names = Object.keys(importedProviders).map((name) => `\`${name}\``);
  const tables = Object.entries(configFields).map(([section, rules]) => `### ${section}\n\n${rulesTable(rules)}`);
  return `Providers, by the prefixes of LiteLLM's models: ${names.join(", ")}.\n\n${tables.join("\n\n")}`;
}

function databaseTables(): string {
  return Object.entries(databaseFields)
    .map(([name, rules]) => `### ${name}\n\n${rulesTable(rules)}`)
    .join("\n\n");
}

function rulesTable(rules: Rules): string {
  const rows = Object.entries(rules).map(([field, { fidelity, to }]) => [`\`${field}\``, fidelity, shown(to)]);
  return table(["LiteLLM", "", "here"], rows);
}

/** Keys of the configuration as code. */
function shown(text: string): string {
  if (text.includes("`")) return text;
  return text.replaceAll(/(?<![\w`])((?:[a-z]+[._])+[\w*]+(?:\.[\w*]+)*)(?![\w`])/g, "`$1`");
}
