/** The files that name the version or the repository, as changes of their text. */

/** A file and its text with the change; relative to the root of the repository. */
export interface Change {
  file: string;
  text: string;
}

type Read = (file: string) => string;

/** `MAJOR.MINOR.PATCH`, with `-rc.1` or the like. */
const VERSION = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?$/;

const PLACEHOLDER = "https://github.com/OWNER/tollgate";

/** Throws if the version is none, or not a later one than that of package.json. */
export function requireLater(version: string, present: string): void {
  if (!VERSION.test(version)) throw new Error(`"${version}" is no version such as 0.2.0`);
  if (Bun.semver.order(version, present) <= 0) throw new Error(`${version} does not come after ${present}`);
}

/** The version of the published document is that of its contract, and stays. */
export function withVersion(read: Read, present: string, version: string): Change[] {
  const quoted = present.replaceAll(".", String.raw`\.`);
  const replaced = (file: string, pattern: string, count: number): Change => {
    const before = read(file);
    const found = before.match(new RegExp(pattern.replace("VERSION", quoted), "gm")) ?? [];
    if (found.length !== count) throw new Error(`${file} names version ${present} ${found.length} times, not ${count}`);
    let text = before;
    for (const each of new Set(found)) text = text.replaceAll(each, each.replace(present, version));
    return { file, text };
  };
  return [
    replaced("package.json", '^  "version": "VERSION"', 1),
    replaced("deploy/helm/tollgate/Chart.yaml", "^(?:app)?[vV]ersion: VERSION$", 2),
    replaced("docs/production.md", String.raw`tollgate-VERSION\.tgz`, 3),
    { file: "package-lock.json", text: lockWith(read("package-lock.json"), version) },
  ];
}

function lockWith(text: string, version: string): string {
  const lock = JSON.parse(text) as { version: string; packages: Record<string, { version?: string }> };
  const own = lock.packages[""];
  if (own === undefined) throw new Error("package-lock.json lacks the package itself");
  [lock.version, own.version] = [version, version];
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

/** The files that name the repository, of which a clone does not know its address; `url` as in `https://github.com/owner/name`. */
export function withRepository(read: Read, url: string): Change[] {
  if (!/^https:\/\/[\w.-]+(?:\/[\w.-]+)+$/.test(url)) throw new Error(`"${url}" is no address of a repository`);
  return ["package.json", "deploy/helm/tollgate/Chart.yaml"].map((file) => {
    const text = read(file);
    if (!text.includes(PLACEHOLDER)) throw new Error(`${file} has a repository already`);
    return { file, text: text.replaceAll(PLACEHOLDER, url) };
  });
}
