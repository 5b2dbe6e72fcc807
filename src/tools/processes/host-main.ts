/**
 * Entry point of the process that owns the servers of tools that are programs. Its input has a line with the list of them (`HostOrders`),
 * and another one when that changes; when it ends, for whatever reason, all of them are ended. Its output has a line for each event. Its argument is
 * its folder, which contains the socket.
 */
import { timingSafeEqual } from "node:crypto";
import { rmSync } from "node:fs";
import { adoptOrphans, hideFromOthers } from "../../core/index.ts";
import { linesOf } from "../../streaming/index.ts";
import { type HostOrders, SECRET_HEADER, socketIn } from "./plan.ts";
import { ServerHost } from "./server-host.ts";

/** More than any list of servers has. */
const LINE_CHARACTERS_MAX = 16 * 1024 * 1024;

const [folder = ""] = process.argv.slice(2);
hideFromOthers();
adoptOrphans();

let secret = Buffer.alloc(0);
const output = Bun.stdout.writer();
const host = new ServerHost(folder, (event) => {
  void output.write(`${JSON.stringify(event)}\n`);
  void output.flush();
});

// A terminal sends its signals to all processes: this one ends with its input.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);

function hasSecret({ headers }: Request): boolean {
  const given = Buffer.from(headers.get(SECRET_HEADER) ?? "");
  return secret.length > 0 && given.length === secret.length && timingSafeEqual(given, secret);
}

Bun.serve({
  unix: socketIn(folder),
  maxRequestBodySize: LINE_CHARACTERS_MAX,
  fetch(request, server) {
    if (!hasSecret(request)) return new Response(undefined, { status: 403 });
    server.timeout(request, 0);
    return host.answer(request);
  },
});

try {
  for await (const line of linesOf(Bun.stdin.stream())) {
    const orders = JSON.parse(line) as HostOrders;
    secret = Buffer.from(orders.secret);
    host.configure(orders.plans);
  }
} finally {
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}
