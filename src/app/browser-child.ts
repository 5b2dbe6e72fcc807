/** The program of the browser's child process, and the part of the composition that runs in it. */
import { randomBytes } from "node:crypto";
import { runBrowserChild } from "../browser/index.ts";
import { AddressGuard, ownAddresses, resolveName } from "../outbound/index.ts";

await runBrowserChild({
  guardFor: ({ allowPrivateHosts, allowPorts }) =>
    new AddressGuard({ allowPrivateHosts, allowPorts, resolve: resolveName, ownAddresses }),
  randomBytes,
});
