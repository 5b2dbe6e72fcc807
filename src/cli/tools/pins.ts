/** `tollgate tools list` and `tools approve`: the pinned definitions of other servers' tools. */
import { type Command, InvalidArgumentError } from "commander";
import { approveTools, changeHash, openPinStore, type PinnedTool } from "../../tools/index.ts";
import { type CommonOptions, reasonOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { withState } from "../state.ts";

interface ApproveOptions extends CommonOptions {
  reason?: string;
  change?: string;
}

export function addToolsCommands(program: Command): void {
  const tools = program.command("tools").description("other servers' tools, and changes of them");
  withCommonOptions(
    tools.command("list").description("list the tools that servers have shown, with the changes that wait"),
  )
    .argument("[server]", "only those of this server", serverName)
    .action(list);
  withCommonOptions(tools.command("approve").description("let changed tools be offered again, as they are now"))
    .argument("<server>", "their server", serverName)
    .argument("[tool]", "only this one, by its name at the server; @issuer for its authorization server")
    .option("--change <hash>", "only the change that `tools list` has shown with this hash")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .action(approve);
}

function serverName(text: string): string {
  if (!/^[a-z0-9-]{1,32}$/.test(text)) throw new InvalidArgumentError("no name of a server");
  return text;
}

async function list(server: string | undefined, options: CommonOptions): Promise<void> {
  const pins = await withState(options, ({ storage }) => openPinStore(storage).all(server));
  if (options.json === true) return printJson(pins.map(pinJson));
  for (const pin of pins) {
    const { offered } = pin;
    printLine(`${titleOf(pin)}${offered === undefined ? "" : `  changed, not offered: ${changeHash(offered)}`}`);
    printDifference(pin);
  }
}

/** With the hash of the change, which is another one if the server changes the tool once more. */
function printDifference({ definition, offered }: PinnedTool): void {
  if (offered !== undefined) for (const line of differenceOf(definition, offered)) printLine(`  ${line}`);
}

async function approve(server: string, tool: string | undefined, options: ApproveOptions): Promise<void> {
  const approved = await withState(options, ({ log, caller }) =>
    approveTools(log, { server, tool, change: options.change }, { actor: caller.actor, reason: options.reason }),
  );
  if (approved.length === 0)
    throw new UsageError(`${tool === undefined ? server : `${server}__${tool}`}: there is no change that waits`);
  if (options.json === true) return printJson(approved.map(pinJson));
  for (const pin of approved) {
    printLine(`${titleOf(pin)} is in force within a minute:`);
    printDifference(pin);
  }
}

function titleOf({ server, owner, tool }: PinnedTool): string {
  return `${server}__${tool}${owner === "" ? "" : `  (user ${owner})`}`;
}

function pinJson({ server, owner, tool, definition, offered, seenAt }: PinnedTool) {
  return {
    server,
    tool,
    user_id: owner === "" ? null : owner,
    seen_at: new Date(seenAt).toISOString(),
    definition: JSON.parse(definition) as unknown,
    offered: offered === undefined ? null : (JSON.parse(offered) as unknown),
    change: offered === undefined ? null : changeHash(offered),
  };
}

/** The values of the two definitions that are not in both, each with its place. */
function differenceOf(before: string, after: string): string[] {
  const [old, now] = [placesOf(JSON.parse(before)), placesOf(JSON.parse(after))];
  return [
    ...[...old.difference(now)].map((line) => `- ${line}`),
    ...[...now.difference(old)].map((line) => `+ ${line}`),
  ];
}

/** A line for each value in a definition: `inputSchema.properties.path.type: "string"`. */
function placesOf(value: unknown, place = ""): Set<string> {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0) return new Set([`${place}: ${JSON.stringify(value)}`]);
  return new Set(members.flatMap(([key, member]) => [...placesOf(member, place === "" ? key : `${place}.${key}`)]));
}
