import { z } from "zod";
import { lockSchema, missingPlatformPackages } from "../lock/complete-lock.ts";

const manifestSchema = z.looseObject({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
  engines: z.looseObject({ node: z.string().regex(/^>=\d+\.\d+$/, "write >=MAJOR.MINOR") }),
});

const allowedLicences = new Set([
  "MIT",
  // Without the duty to repeat the notice.
  "MIT-0",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  // The manifest of duck (of mammoth) has the old name of BSD-2-Clause.
  "BSD",
  "BlueOak-1.0.0",
  // Of pako (of jszip): both allow any use.
  "MIT AND Zlib",
  "Unlicense",
]);

/** Packages whose manifests name no licence, with that of their file LICENSE or of their README. */
const unnamedLicences: Readonly<Record<string, string>> = {
  "node_modules/cohere-ai": "MIT",
  "node_modules/@modelcontextprotocol/server-everything": "MIT",
  "node_modules/@modelcontextprotocol/server-filesystem": "MIT",
  "node_modules/@modelcontextprotocol/server-memory": "MIT",
};

/** An exact version, of another package if two versions of one are needed. */
const exact = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;

/** A manifest that names a file in the place of a licence. */
const isReference = /^SEE LICENSE IN /;

/** Packages that only tests use, unchanged, with licences that ask for a copy of changes. None is part of what users install. */
const testsOnly: Readonly<Record<string, string>> = { "node_modules/axe-core": "MPL-2.0" };

/** The project's rules for package.json and package-lock.json (their parsed texts), as advice: one line per finding. */
export function checkPackages(manifest: unknown, lock: unknown): string[] {
  const { dependencies, devDependencies, engines } = manifestSchema.parse(manifest);
  const oldestNode = `${engines.node.slice(">=".length)}.0`;
  const locked = lockSchema.parse(lock);
  const missing = Object.keys(missingPlatformPackages(locked));
  return [
    ...Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, version]) => !exact.test(version))
      .map(([name, version]) => `package.json: ${name}@${version} is no exact version; pin it`),
    ...Object.entries(locked.packages).flatMap(([path, entry]) => checkLocked(path, entry)),
    ...Object.entries(locked.packages).flatMap(([path, entry]) => checkEngine(path, entry, oldestNode)),
    ...(missing.length > 0 ? [`package-lock.json lacks ${missing.join(", ")}; run bun scripts/complete-lock.ts`] : []),
  ];
}

type LockedPackage = z.infer<typeof lockSchema>["packages"][string];

/** During an installation npm warns of each package that does not support the installed Node.js, even if Bun runs it. */
function checkEngine(path: string, { dev, engines }: LockedPackage, oldestNode: string): string[] {
  const needed = engines?.["node"] ?? "*";
  if (path === "" || dev === true || Bun.semver.satisfies(oldestNode, needed)) return [];
  return [
    `package-lock.json: ${path} needs Node.js ${needed}, package.json supports ${oldestNode}; use another version`,
  ];
}

function checkLocked(path: string, { license: named, ...entry }: LockedPackage): string[] {
  if (path === "") return [];
  const license = named === undefined || isReference.test(named) ? unnamedLicences[path] : named;
  // A choice between licences is ours to make.
  const choices = license?.replace(/^\((.*)\)$/, "$1").split(" OR ") ?? [];
  const isForTests = entry.dev === true && testsOnly[path] === license;
  const isAllowed = isForTests || choices.some((choice) => allowedLicences.has(choice));
  return [
    ...("resolved" in entry ? [`package-lock.json: ${path} names a registry host; .npmrc keeps it out`] : []),
    ...(isAllowed ? [] : [`package-lock.json: ${path} has the licence ${license ?? "unknown"}; ask before using it`]),
  ];
}
