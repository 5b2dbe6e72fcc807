import { networkInterfaces } from "node:os";

/** The addresses of this machine's network interfaces, some of which may be public. They can change while it runs. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
}
