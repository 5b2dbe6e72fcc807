import { z } from "zod";
import { lockSchema, missingPlatformPackages } from "../lock/complete-lock.ts";

const manifestSchema = z.looseObject({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

const allowedLicences = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
  "Unlicense",
]);

/** The project's rules for package.json and package-lock.json (their parsed texts), as advice: one line per finding. */
export function checkPackages(manifest: unknown, lock: unknown): string[] {
  const { dependencies, devDependencies } = manifestSchema.parse(manifest);
  const locked = lockSchema.parse(lock);
  const missing = Object.keys(missingPlatformPackages(locked));
  return [
    ...Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `package.json: ${name}@${version} is no exact version; pin it`),
    ...Object.entries(locked.packages).flatMap(([path, entry]) => checkLocked(path, entry)),
    ...(missing.length > 0 ? [`package-lock.json lacks ${missing.join(", ")}; run bun scripts/complete-lock.ts`] : []),
  ];
}

function checkLocked(path: string, { license, ...entry }: z.infer<typeof lockSchema>["packages"][string]): string[] {
  if (path === "") return [];
  // A choice between licences is ours to make.
  const choices = license?.replace(/^\((.*)\)$/, "$1").split(" OR ") ?? [];
  const isAllowed = choices.some((choice) => allowedLicences.has(choice));
  return [
    ...("resolved" in entry ? [`package-lock.json: ${path} names a registry host; .npmrc keeps it out`] : []),
    ...(isAllowed ? [] : [`package-lock.json: ${path} has the licence ${license ?? "unknown"}; ask before using it`]),
  ];
}
