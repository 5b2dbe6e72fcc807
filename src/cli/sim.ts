import type { Command } from "commander";
import { portOption, withCommonOptions } from "./options.ts";
import { portAfter, SIMULATORS } from "./sandbox.ts";

export function addSimCommand(program: Command): void {
  withCommonOptions(
    program.command("sim").description("run the provider simulators on their own, and the demo site on the next port"),
  )
    .option("--port <number>", "port to listen on", portOption("--port"), 8788)
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .action(async ({ port, host }: { port: number; host: string }) => {
      const address = ["--host", host, "--port", String(port), "--site-port", portAfter(port)];
      const child = Bun.spawn([process.execPath, SIMULATORS, ...address, "--exit-with-parent"], {
        stdio: ["pipe", "inherit", "inherit"],
      });
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
      process.exitCode = await child.exited;
    });
}
