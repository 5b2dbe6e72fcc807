import { type FileHandle, open, unlink } from "node:fs/promises";
import { UsageError } from "../options.ts";

/**
 * Runs an act that makes secrets, and writes them into a new file that nobody else reads. The file is created first: no secret is left
 * without a place, and no file lost. It is removed if the act fails.
 */
export async function intoSecretFile<Made>(
  { option, file }: { option: string; file: string },
  act: () => Promise<Made>,
  textOf: (made: Made) => string,
): Promise<Made> {
  const handle = await create(option, file);
  try {
    const made = await act();
    await handle.writeFile(textOf(made));
    await handle.sync();
    return made;
  } catch (thrown) {
    if ((await handle.stat()).size === 0) await unlink(file);
    throw thrown;
  } finally {
    await handle.close();
  }
}

async function create(option: string, file: string): Promise<FileHandle> {
  try {
    return await open(file, "wx", 0o600);
  } catch (cause) {
    throw new UsageError(`${option}: ${file} can't be created, or exists already`, { cause });
  }
}
