import { closeSync, openSync } from "node:fs";

/**
 * Database files that this process has open. When a process closes any descriptor of a file, the system drops all locks
 * that the process holds on it (POSIX), SQLite's included. A descriptor besides SQLite's own ones is therefore closed
 * only after the last connection.
 */
const files = new Map<string, { connections: number; descriptor: number | undefined }>();

/** Call it after SQLite has opened the file. */
export function countOpened(path: string): void {
  const file = files.get(path) ?? { connections: 0, descriptor: undefined };
  file.connections += 1;
  files.set(path, file);
}

/** Call it after SQLite has closed the file. */
export function countClosed(path: string): void {
  const file = files.get(path);
  if (file === undefined) return;
  file.connections -= 1;
  if (file.connections > 0) return;
  files.delete(path);
  if (file.descriptor !== undefined) closeSync(file.descriptor);
}

/** A descriptor of an open file that is good for `fdatasync`. Do not close it. */
export function descriptorOf(path: string): number {
  const file = files.get(path);
  if (file === undefined) throw new Error(`${path} is not open`);
  file.descriptor ??= openSync(path, "r");
  return file.descriptor;
}
