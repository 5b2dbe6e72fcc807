import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { RandomBytes } from "../../core/index.ts";
import type { Storage } from "../database.ts";
import { SecretError } from "./secret-error.ts";

/** The text that the key of the encryption is derived from. */
export interface EncryptionKey {
  /** Undefined if there is none yet. */
  find(): string | undefined;
  /** Makes it if there is none; undefined if only an operator can set it. */
  findOrMake(): string | undefined;
}

const KEY_BYTES = 32;

interface KeySources {
  /** From the configuration; empty if it has none. */
  configured: string;
  storage: Pick<Storage, "engine"> & { file?: string | undefined };
  randomBytes: RandomBytes;
}

/**
 * The configured key, else one in a file beside SQLite's, which is readable by its owner only. Nodes on Postgres may run
 * on different machines, so that a file of one of them would not do.
 */
export function encryptionKey({ configured, storage, randomBytes }: KeySources): EncryptionKey {
  if (configured !== "") return { find: () => configured, findOrMake: () => configured };
  if (storage.engine === "postgres") return { find: () => undefined, findOrMake: () => undefined };
  const newKey = (): string => Buffer.from(randomBytes(KEY_BYTES)).toString("base64");
  const { file } = storage;
  if (file === undefined) {
    let key: string | undefined;
    return { find: () => key, findOrMake: () => (key ??= newKey()) };
  }
  const path = `${file}.key`;
  return {
    find: () => readKey(path),
    findOrMake: () => {
      const known = readKey(path);
      if (known !== undefined) return known;
      writeKey(path, newKey());
      return readKey(path);
    },
  };
}

function readKey(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new SecretError(`the key file ${path} can't be read`, { cause });
  }
}

/**
 * Writes the file completely before it gets its name, and to the disk before a secret depends on it. If another process is
 * faster, its key stays.
 */
function writeKey(path: string, key: string): void {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", 0o600);
  writeSync(file, `${key}\n`);
  fsyncSync(file);
  closeSync(file);
  try {
    linkSync(draft, path);
  } catch (reason) {
    if (existsSync(path)) return;
    // A file system without links.
    renameSync(draft, path);
    if (!existsSync(path)) throw reason;
  } finally {
    rmSync(draft, { force: true });
  }
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
}
