/** The options by which commands choose calls. */
import type { Command } from "commander";
import type { Moment } from "../../spending/index.ts";
import { nameOption, pairsOption } from "../options.ts";
import { momentOption } from "./moments.ts";

export interface CallFilterOptions {
  since?: Moment;
  until?: Moment;
  organisation?: string;
  user?: string;
  project?: string;
  token?: string;
  provider?: string;
  model?: string;
  operation?: string;
  session?: string;
  endUser?: string;
  tag?: Record<string, string>;
}

/** `age` is an example. */
export function withPeriod(command: Command, age: string): Command {
  return command
    .option(
      "--since <time>",
      `a date, a date-time or an age such as ${age} (default: 30 days)`,
      momentOption("--since"),
    )
    .option("--until <time>", "the same, exclusive (default: the end of today)", momentOption("--until"));
}

export function withCallFilter(command: Command): Command {
  return command
    .option("--organisation <name>", "calls that it pays for only", nameOption("--organisation"))
    .option("--user <name>", "their calls only", nameOption("--user"))
    .option("--project <name>", "its calls only", nameOption("--project"))
    .option("--token <id>", "its calls only")
    .option("--provider <prefix>", "calls of a provider only")
    .option("--model <id>", "calls of a model only, by its id with the prefix")
    .option("--operation <name>", "chat, embeddings …")
    .option("--session <name>", "calls of a client's session only")
    .option("--end-user <name>", "calls for the caller's own user only")
    .option("--tag <pairs>", "calls with these tags only: team=search,env=prod", pairsOption("--tag"));
}

/** The filter under the names of the API. */
export function callFilterOf(options: CallFilterOptions) {
  const { organisation, user, project, token, provider, model, operation, session, endUser: end_user } = options;
  const tags = Object.entries(options.tag ?? {}).map(([key, value]) => [`tag:${key}`, value] as const);
  const named = { organisation, user, project, token, provider, model, operation, session, end_user };
  return { ...named, ...Object.fromEntries(tags) };
}
