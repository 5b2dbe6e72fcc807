/**
 * The browser's child process with a resolver of an attacker: names below .test are on loopback, and those below .rebind.test
 * are so from the second look-up on, or beside a public address.
 */
import { randomBytes } from "node:crypto";
import { runBrowserChild } from "../../../src/browser/index.ts";
import { AddressGuard } from "../../../src/outbound/index.ts";

/** A public address. Nothing here depends on whether it answers. */
const PUBLIC = "93.184.215.14";

const asked = new Set<string>();

function resolve(name: string): Promise<readonly string[]> {
  if (name === "both.rebind.test") return Promise.resolve([PUBLIC, "127.0.0.1"]);
  if (name.endsWith("rebind.test") && !asked.has(name)) {
    asked.add(name);
    return Promise.resolve([PUBLIC]);
  }
  return Promise.resolve(["127.0.0.1"]);
}

await runBrowserChild({
  guardFor: ({ allowPrivateHosts, allowPorts }) =>
    new AddressGuard({ allowPrivateHosts, allowPorts, resolve, ownAddresses: () => [] }),
  randomBytes,
});
