/**
 * Entry point of the process that owns the servers of tools that are programs. Its input has a line with the list of them, and another
 * one when that changes; when it ends, for whatever reason, all of them are ended. Its output has a line for each event. Its argument is
 * its folder, which contains the socket.
 */
import { rmSync } from "node:fs";
import { linesOf } from "../../streaming/index.ts";
import { type ServerPlan, socketIn } from "./plan.ts";
import { ServerHost } from "./server-host.ts";

/** More than any list of servers has. */
const LINE_CHARACTERS_MAX = 16 * 1024 * 1024;

const [folder = ""] = process.argv.slice(2);
const output = Bun.stdout.writer();
const host = new ServerHost(folder, (event) => {
  void output.write(`${JSON.stringify(event)}\n`);
  void output.flush();
});

// A terminal sends its signals to all processes: this one ends with its input.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);

Bun.serve({
  unix: socketIn(folder),
  maxRequestBodySize: LINE_CHARACTERS_MAX,
  fetch(request, server) {
    server.timeout(request, 0);
    return host.answer(request);
  },
});

try {
  for await (const line of linesOf(Bun.stdin.stream())) host.configure(JSON.parse(line) as ServerPlan[]);
} finally {
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}
