/**
 * `npm run deploy:tools`: builds with Go what the tests of deploy/ check files with, once for all checkouts of a user. Without them
 * those tests are skipped.
 */
import { mkdirSync } from "node:fs";
import { builtTools, toolFolder } from "../test/deploy/tools.ts";

if (Bun.which("go") === null) {
  console.error("npm run deploy:tools needs Go: https://go.dev/dl");
  process.exit(1);
}
mkdirSync(toolFolder, { recursive: true });
for (const [name, module] of Object.entries(builtTools)) {
  console.log(`${name}: ${module} …`);
  const built = Bun.spawnSync(["go", "install", module], {
    env: { ...process.env, GOBIN: toolFolder },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (!built.success) process.exit(1);
}
console.log(`in ${toolFolder}`);
