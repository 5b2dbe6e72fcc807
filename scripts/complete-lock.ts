/**
 * Adds to package-lock.json the platform packages (`@oxlint/binding-darwin-arm64` …) that npm left out because the
 * registry of the last `npm install` did not carry them: mirrors often hold one platform only. npm 11's `npm ci` refuses
 * a lock that lacks one, on every platform. Run it when the tidy test asks for it, then `npm install` for npm's order.
 */
import { z } from "zod";
import { lockSchema, missingPlatformPackages } from "./lock/complete-lock.ts";

const path = new URL("../package-lock.json", import.meta.url);
const text = await Bun.file(path).text();
const lock = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
const packages = z.record(z.string(), z.unknown()).parse(lock["packages"]);
const missing = missingPlatformPackages(lockSchema.parse(lock));
await Bun.write(path, `${JSON.stringify({ ...lock, packages: { ...packages, ...missing } }, null, 2)}\n`);
console.log(`${Object.keys(missing).length} platform packages added to package-lock.json`);
