/**
 * Gives up root for good. It happens inside of the process, after all of its code is loaded: the files of an installation below
 * /root are not readable for another user, and neither `su` nor `setpriv` is there on every machine.
 */
export function becomeUser(id: number): void {
  const { setgroups, setgid, setuid, getuid, getgid } = process;
  if (!setgroups || !setgid || !setuid || !getuid || !getgid) throw new Error("this system has no users");
  setgroups.call(process, []);
  setgid.call(process, id);
  setuid.call(process, id);
  if (getuid.call(process) !== id || getgid.call(process) !== id) throw new Error("the user could not be changed");
}
