/** The names of other servers' tools for clients, which take `[A-Za-z0-9_-]` and 64 characters. */

const NAME_CHARACTERS_MAX = 64;
const HASH_CHARACTERS = 8;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The name of a tool among those of several servers. */
export function prefixedName(server: string, tool: string): string {
  return takenName(`${server}__${tool}`);
}

/** The name itself if clients take it; else a part of it with a hash, which is the same on every node. */
export function takenName(name: string): string {
  if (NAME.test(name)) return name;
  const hash = new Bun.CryptoHasher("sha256").update(name).digest("hex").slice(0, HASH_CHARACTERS);
  const start = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1);
  return `${start}_${hash}`;
}
