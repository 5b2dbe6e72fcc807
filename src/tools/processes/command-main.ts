/**
 * Becomes another program: bounds itself, changes its user, and replaces itself. So the program is a child of the process that
 * started this one. Its arguments: how (`CommandStart` as JSON), the program's file, and the program's arguments.
 */
import { ptr } from "bun:ffi";
import { becomeUser, endWithParent, gainNoRights, openLibc } from "../../core/index.ts";
import type { CommandStart } from "./server-process.ts";

/** From <sys/resource.h>. */
const RLIMIT_CORE = 4;
const RLIMIT_NOFILE = process.platform === "linux" ? 7 : 8;

const [how = "{}", file = "", ...args] = process.argv.slice(2);
const { user, openFiles, directory } = JSON.parse(how) as CommandStart;

function fail(problem: string): never {
  process.stderr.write(`${problem}\n`);
  process.exit(127);
}

const libc =
  openLibc({
    setrlimit: { args: ["i32", "ptr"], returns: "i32" },
    execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
  }) ?? fail("this system's C library is unknown");

/** Addresses of texts, and the list of them; both have to live as long as they are used. */
function textsOf(texts: readonly string[]): { list: BigUint64Array; buffers: Buffer[] } {
  const buffers = texts.map((text) => Buffer.from(`${text}\0`));
  return { list: new BigUint64Array([...buffers.map((buffer) => BigInt(ptr(buffer))), 0n]), buffers };
}

const path = Buffer.from(`${file}\0`);
const argv = textsOf([file, ...args]);
// oxlint-disable-next-line no-restricted-properties -- they are the program's, not settings of the gateway
const env = textsOf(Object.entries(process.env).map(([name, value]) => `${name}=${value ?? ""}`));

libc.setrlimit(RLIMIT_CORE, ptr(new BigUint64Array([0n, 0n])));
libc.setrlimit(RLIMIT_NOFILE, ptr(new BigUint64Array([BigInt(openFiles), BigInt(openFiles)])));
if (user !== undefined) {
  try {
    becomeUser(user.id, user.group);
  } catch {
    // Root in a container may lack the right.
    fail("the gateway may not start a program as another user");
  }
}
try {
  process.chdir(directory);
} catch {
  fail(`the directory ${directory} cannot be entered`);
}
endWithParent();
gainNoRights();
libc.execve(ptr(path), ptr(argv.list), ptr(env.list));
fail(`${file} cannot be started`);
