/**
 * Makes this process run as another user, and with the group of the same id if none is given; it cannot become root again. A child
 * process calls it before it reads the first bytes of a stranger's document, and after it has loaded all of its code, since another
 * user cannot read an installation below /root.
 * Throws if the system does not permit it. Programs that start a process as another user (`su`, `setpriv`) are not on every machine.
 */
export function becomeUser(id: number, group: number = id): void {
  const { setgroups, setgid, setuid, getuid, getgid } = process;
  if (!setgroups || !setgid || !setuid || !getuid || !getgid) throw new Error("this system has no users");
  setgroups.call(process, []);
  setgid.call(process, group);
  setuid.call(process, id);
  if (getuid.call(process) !== id || getgid.call(process) !== group) throw new Error("the user could not be changed");
}
