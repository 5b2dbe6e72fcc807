import { z } from "zod";

const packageSchema = z.looseObject({
  dev: z.boolean().optional(),
  license: z.string().optional(),
  engines: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

/** The part of package-lock.json (version 3) that is read here. */
export const lockSchema = z.looseObject({ packages: z.record(z.string(), packageSchema) });

type Lock = z.infer<typeof lockSchema>;
type LockedPackage = z.infer<typeof packageSchema>;

const operatingSystems = new Set([
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "win32",
]);
const processors = new Set(["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"]);

/**
 * The optional dependencies that packages in the lock name but the lock lacks: path in its `packages` → entry, with the
 * platform read from the name. The checksum is unknown. Throws if a name does not contain its platform.
 */
export function missingPlatformPackages(lock: Lock): Record<string, LockedPackage> {
  const entries = Object.entries(lock.packages).flatMap(([path, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name]) => !isLocked(lock, path, name))
      .map(([name, version]) => [`node_modules/${name}`, platformPackage(name, version, parent)] as const),
  );
  return Object.fromEntries(entries);
}

function isLocked(lock: Lock, parentPath: string, name: string): boolean {
  return [`node_modules/${name}`, `${parentPath}/node_modules/${name}`].some((path) => path in lock.packages);
}

function platformPackage(name: string, version: string, parent: LockedPackage): LockedPackage {
  const words = name.split(/[-/]/).map((word) => (word === "aarch64" ? "arm64" : word));
  const os = words.filter((word) => operatingSystems.has(word));
  const cpu = words.filter((word) => processors.has(word));
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`${name} does not name its platform: add it by hand`);
  const { dev, license, engines } = parent;
  const entry = { version, cpu, dev, libc: libcOf(words), license, optional: true, os, engines };
  return packageSchema.parse(Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)));
}

/** Only Linux packages name a C library; `gnueabihf` and `musleabihf` are its names on 32-bit ARM. */
function libcOf(words: readonly string[]): string[] | undefined {
  if (!words.includes("linux")) return undefined;
  if (words.some((word) => word.startsWith("musl"))) return ["musl"];
  return words.some((word) => word.startsWith("gnu")) ? ["glibc"] : undefined;
}
