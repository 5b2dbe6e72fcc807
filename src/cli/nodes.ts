import type { Command } from "commander";
import { differenceIn, openNodeStore, THERE_MS_MAX } from "../nodes/index.ts";
import { type CommonOptions, withCommonOptions } from "./options.ts";
import { printJson, printLine, printTable } from "./print.ts";
import { environment, openNamedStorage } from "./state.ts";

export function addNodesCommand(program: Command): void {
  withCommonOptions(
    program.command("nodes").description("list the gateways of the storage, and whether they serve alike"),
  ).action(nodes);
}

async function nodes(options: CommonOptions): Promise<void> {
  const storage = await openNamedStorage(options);
  const at = environment.clock();
  const there = await openNodeStore(storage).seenSince(at - THERE_MS_MAX);
  await storage.close();
  const difference = differenceIn(there, at);
  if (options.json === true) {
    return printJson({
      nodes: there.map(({ name, host, pid, version, startedAt, seenAt, fingerprint }) => ({
        name,
        host,
        pid,
        version,
        started_at: new Date(startedAt).toISOString(),
        seen_at: new Date(seenAt).toISOString(),
        fingerprint,
      })),
      differences: difference?.parts ?? [],
      since: difference === undefined ? null : new Date(difference.since).toISOString(),
    });
  }
  printTable(
    ["NODE", "VERSION", "SINCE"],
    there.map(({ name, version, startedAt }) => [name, version, new Date(startedAt).toISOString()]),
  );
  if (difference !== undefined) printLine(`They have different ${difference.parts.join(", ")}.`);
}
