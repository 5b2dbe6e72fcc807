import { chown, mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrowserError } from "../browser-error.ts";

/** Bytes of a socket's path, by the systems' `sockaddr_un`. */
const SOCKET_PATH_BYTES_MAX = process.platform === "darwin" ? 103 : 107;

/** Bytes of the path. Chromium makes a socket in a folder of its own below, and ends if that socket's path is too long. */
const PATH_BYTES_MAX = SOCKET_PATH_BYTES_MAX - "/org.chromium.Chromium.XXXXXX/SingletonSocket".length;

const PREFIX = "tollgate-browser-";

/** The folder for the browser's own files, readable by its user only. Rejects with a `BrowserError`. */
export async function createBrowserFolder(userId: number | undefined): Promise<string> {
  const parent = shortParent();
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(parent, PREFIX));
    if (userId !== undefined) await chown(folder, userId, userId);
    return folder;
  } catch (cause) {
    if (folder !== undefined) await rmdir(folder);
    const message =
      `Chromium was not started: ${parent} must be writable, and below root the unprivileged user ${userId} must exist ` +
      "in the container's user namespace; a gateway that is not root needs no other user";
    throw new BrowserError("unavailable", message, { cause });
  }
}

/** Where temporary files belong, unless its path is too long. */
function shortParent(): string {
  const parent = tmpdir();
  return Buffer.byteLength(join(parent, `${PREFIX}XXXXXX`)) <= PATH_BYTES_MAX ? parent : "/tmp";
}
