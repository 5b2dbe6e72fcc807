/** The changelog's parts: one for each release, the latest first, and one for the changes since then. */

const UNRELEASED = "## Unreleased";

/** Makes a release of the unreleased changes. Throws if there are none, or if the version has a part already. */
export function cutChangelog(text: string, version: string, date: string): string {
  if (partOf(text, version) !== undefined) throw new Error(`CHANGELOG.md has ${version} already`);
  const changes = partOf(text, "Unreleased");
  if (changes === undefined || changes === "") throw new Error(`CHANGELOG.md has nothing below "${UNRELEASED}"`);
  return text.replace(UNRELEASED, `${UNRELEASED}\n\n## ${version} (${date})`);
}

/** The text below the heading of a release; undefined if there is none. */
export function partOf(text: string, version: string): string | undefined {
  const [, ...parts] = text.split(/^## /m);
  const found = parts.find((part) => {
    const [heading = ""] = part.split("\n", 1);
    return heading === version || heading.startsWith(`${version} (`);
  });
  return found?.slice(found.indexOf("\n") + 1).trim();
}
