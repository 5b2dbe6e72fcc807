import { z } from "zod";
import type { StartMessage } from "../driver/messages.ts";

const systemError = z.object({ code: z.string() });

const sandboxAdvice =
  "its sandbox needs user namespaces for unprivileged users, which this machine does not permit. Permit them (sysctl " +
  "user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in a " +
  "container also a seccomp profile that allows clone and unshare), or, if every site is trusted, switch the sandbox off in " +
  "the configuration";

/** For the operator: the steps after which the browser starts. */
export function whyNotStarted(cause: unknown, { executable, userId }: StartMessage): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (
    /No usable sandbox|namespace sandbox failed|setuid sandbox|sandbox_host_linux|EPERM.*(userns|namespace)/i.test(text)
  ) {
    return `Chromium was not started: ${sandboxAdvice}`;
  }
  const { success, data } = systemError.safeParse(cause);
  if ((success && data.code === "EACCES") || /EACCES|permission denied/i.test(text)) {
    const user = userId === undefined ? "this user" : `the unprivileged user ${userId}, which it runs as below root,`;
    return `Chromium was not started: ${user} may not execute ${executable}, or not use the folder for temporary files`;
  }
  // The first line is Playwright's summary; the browser's own words follow.
  const [first = ""] = text.split("\n");
  const fatal = text.split("\n").find((line) => /FATAL|error while loading shared libraries/.test(line));
  return `Chromium was not started: ${fatal?.trim() ?? first}`;
}
