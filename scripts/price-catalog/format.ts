import type { PriceCatalog } from "../../src/pricing/index.ts";

/** Writes a catalog with one model a line, so that a change of a price is a change of one line. */
export function formatCatalog({ format, made, tables, providers }: PriceCatalog): string {
  const sections = Object.entries(providers).map(([id, { date_suffixes: suffixes, models }]) => {
    const lines = Object.entries(models).map(
      ([name, model]) => `        ${JSON.stringify(name)}: ${JSON.stringify(model)}`,
    );
    const dates = suffixes === undefined ? "" : `      "date_suffixes": ${JSON.stringify(suffixes)},\n`;
    return `    ${JSON.stringify(id)}: {\n${dates}      "models": {\n${lines.join(",\n")}\n      }\n    }`;
  });
  const day = made === undefined ? "" : `  "made": ${JSON.stringify(made)},\n`;
  return `{\n  "format": ${format},\n${day}  "tables": ${JSON.stringify(tables ?? {})},\n  "providers": {\n${sections.join(",\n")}\n  }\n}\n`;
}
