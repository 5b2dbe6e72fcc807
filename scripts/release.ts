/**
 * Prepares a release; docs/releasing.md has the steps.
 *
 *     npm run release -- 0.2.0                  the version and the changelog, in all files that have it
 *     npm run release -- --check v0.2.0         whether a tag is that of this version
 *     npm run release -- --notes 0.2.0          the part of the changelog, for the release's page
 *     REPOSITORY=https://github.com/o/n npm run release -- --repository    the repository's address, before publishing
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cutChangelog, partOf } from "./release/changelog.ts";
import { type Change, requireLater, withRepository, withVersion } from "./release/files.ts";
import { root } from "./shared/steps.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const write = ({ file, text }: Change): void => writeFileSync(join(root, file), text);

const { version: present } = JSON.parse(read("package.json")) as { version: string };

function cut(version: string): void {
  requireLater(version, present);
  const date = new Date().toISOString().slice(0, "YYYY-MM-DD".length);
  const changes = withVersion(read, present, version);
  changes.push({ file: "CHANGELOG.md", text: cutChangelog(read("CHANGELOG.md"), version, date) });
  for (const change of changes) write(change);
  const generated = Bun.spawnSync([process.execPath, "scripts/generate.ts"], { cwd: root, stdout: "ignore" });
  if (!generated.success) throw new Error("scripts/generate.ts failed");
  console.log(`${changes.map(({ file }) => file).join("\n")}\n`);
  console.log(
    `Look at the difference, then: git commit -am "release: ${version}" && git tag -s v${version} -m ${version}`,
  );
}

function check(tag: string): void {
  if (tag !== `v${present}`) throw new Error(`the tag ${tag} is not that of version ${present}`);
  if (partOf(read("CHANGELOG.md"), present) === undefined) throw new Error(`CHANGELOG.md has no ${present}`);
}

function printNotes(version: string): void {
  const notes = partOf(read("CHANGELOG.md"), version);
  if (notes === undefined) throw new Error(`CHANGELOG.md has no ${version}`);
  console.log(notes);
}

function main([first = "", second = ""]: readonly string[]): void {
  if (first === "--check") return check(second);
  if (first === "--notes") return printNotes(second);
  if (first === "--repository") return withRepository(read, process.env["REPOSITORY"] ?? "").forEach(write);
  cut(first);
}

try {
  main(process.argv.slice(2));
} catch (reason) {
  console.error(reason instanceof Error ? reason.message : String(reason));
  process.exitCode = 1;
}
