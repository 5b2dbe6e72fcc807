/** Writes the files that are generated from the code, or with `--check` fails if one is out of date. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withHeadline } from "../bench/report/headline.ts";
import { configJsonSchema } from "../src/config/index.ts";
import { features } from "../src/http/index.ts";
import { openapiDocument } from "../src/openapi/index.ts";
import { catalogJsonSchema } from "../src/pricing/index.ts";
import { dialectsDocument } from "./dialects/dialects-document.ts";
import { limitsDocument } from "./dialects/limits-document.ts";
import { withHolds } from "./holds/holds-table.ts";
import { withHostedMatrix } from "./hosted/hosted-matrix.ts";
import { withConfigurationLists } from "./configuration/configuration-lists.ts";
import { withLitellmTables } from "./litellm/litellm-tables.ts";
import { consoleFiles, leftConsoleFiles, withCompressed } from "./console/build-console.ts";
import { leftPages, documentationPages } from "./documentation/documentation-pages.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const generated: Record<string, () => string> = {
  "openapi.json": () =>
    json(
      openapiDocument({
        features,
        publicUrl: "https://tollgate.example.com",
        betaUrl: "http://beta.tollgate.example.com",
      }),
    ),
  "tollgate.schema.json": () => json(configJsonSchema()),
  "tollgate.catalog.schema.json": () => json(catalogJsonSchema()),
  "docs/dialects.md": dialectsDocument,
  "docs/wire/limits.md": limitsDocument,
  "docs/money.md": () => withHolds(readFileSync(join(root, "docs/money.md"), "utf8")),
  "docs/tools.md": () => withHostedMatrix(readFileSync(join(root, "docs/tools.md"), "utf8")),
  "docs/from-litellm.md": () => withLitellmTables(readFileSync(join(root, "docs/from-litellm.md"), "utf8")),
  "README.md": () =>
    withHeadline(
      readFileSync(join(root, "README.md"), "utf8"),
      readFileSync(join(root, "docs/performance.md"), "utf8"),
    ),
  "docs/configuration.md": () => withConfigurationLists(readFileSync(join(root, "docs/configuration.md"), "utf8")),
};

function json(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

const check = process.argv.includes("--check");
let isOutOfDate = false;

/** A file's new content, and whether the one on disk has it already. */
interface Content {
  bytes: () => string | Uint8Array;
  isCurrent: (onDisk: Uint8Array) => boolean;
}

function put(file: string, { bytes, isCurrent }: Content): void {
  const path = join(root, file);
  if (existsSync(path) && isCurrent(readFileSync(path))) return;
  isOutOfDate = true;
  if (check) console.error(`${file} is out of date: run "npm run generate" and commit it`);
  else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes());
  }
}

const textOf = (text: string): Content => ({
  bytes: () => text,
  isCurrent: (onDisk) => Buffer.from(text).equals(onDisk),
});

function removeLeft(files: readonly string[]): void {
  for (const file of files) {
    isOutOfDate = true;
    if (check) console.error(`${file} is generated from nothing: run "npm run generate" and commit it`);
    else rmSync(join(root, file));
  }
}

for (const [file, make] of Object.entries(generated)) put(file, textOf(make()));

// From the documents above.
const pages = await documentationPages(root);
for (const [file, text] of Object.entries(pages)) put(file, textOf(text));
removeLeft(leftPages(root, pages));

const built = withCompressed(await consoleFiles(root));
for (const { path, ...content } of built) put(path, content);
removeLeft(leftConsoleFiles(root, built));
if (check && isOutOfDate) process.exitCode = 1;
