import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run, inTemporaryFolder } from "./subprocess.ts";

const FILE = "litellm/model_prices_and_context_window_backup.json";

/** The price file inside the package `litellm` of PyPI. */
export interface DownloadedTable {
  version: string;
  text: string;
}

/**
 * Downloads the newest version with pip, which knows the mirrors and certificates of this machine. Throws if Python or
 * the package is missing.
 */
export async function downloadLitellm(version: string | undefined): Promise<DownloadedTable> {
  return inTemporaryFolder(async (folder) => {
    const wanted = version === undefined ? "litellm" : `litellm==${version}`;
    await run([
      "python3",
      "-m",
      "pip",
      "download",
      "--quiet",
      "--no-deps",
      "--only-binary=:all:",
      "--dest",
      folder,
      wanted,
    ]);
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    const found = /^litellm-([^-]+)-/.exec(wheel ?? "")?.[1];
    if (wheel === undefined || found === undefined) throw new Error("pip has downloaded no wheel of litellm");
    const print = `import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))`;
    return { version: found, text: await run(["python3", "-c", print, join(folder, wheel), FILE]) };
  });
}
