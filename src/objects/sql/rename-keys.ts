/** The key that stored objects were made with, under another id. */
import { runnerOf, sql, type Storage } from "../../storage/index.ts";

export interface KeyRenaming {
  provider: string;
  /** The id so far. */
  from: string;
  to: string;
}

/** Gives the records of a key its new id: answers, videos, files and other objects. Safe to repeat. */
export async function renameKey(storage: Storage, { provider, from, to }: KeyRenaming): Promise<void> {
  const runner = runnerOf(storage);
  await runner.run(sql`UPDATE responses SET key_id = ${to} WHERE provider = ${provider} AND key_id = ${from}`);
  await runner.run(sql`UPDATE videos SET key_id = ${to} WHERE provider = ${provider} AND key_id = ${from}`);
  await runner.run(sql`UPDATE stored_objects SET key_id = ${to} WHERE provider = ${provider} AND key_id = ${from}`);
}
