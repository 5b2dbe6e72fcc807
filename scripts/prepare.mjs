// Runs after `npm ci` and `npm install`. Puts the launcher where `npx tollgate` finds it: npm links the bins of
// dependencies only, and for a bin of the package itself npx would install the package into its cache first.
import { mkdirSync, rmSync, symlinkSync } from "node:fs";

const folder = new URL("../node_modules/.bin/", import.meta.url);
const link = new URL("tollgate", folder);
mkdirSync(folder, { recursive: true });
rmSync(link, { force: true });
symlinkSync("../../bin/tollgate", link);
