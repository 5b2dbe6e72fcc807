/** `tollgate route explain`: which targets a call would have, and why the others have none. */
import { Option, type Command } from "commander";
import { callRights } from "../../accounts/index.ts";
import { creditsNumber, formatCredits, GatewayError, type ModelOperation } from "../../core/index.ts";
import {
  explainRoute,
  explanationJson,
  modelOperations,
  type ModelRouter,
  circuitEnds,
  readSharedKeyId,
  type TargetState,
} from "../../routing/index.ts";
import { type CommonOptions, countOption, textOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { environment, type State } from "../state.ts";
import { withRoutes } from "./with-routes.ts";

interface ExplainOptions extends CommonOptions {
  token?: string;
  operation: ModelOperation;
  inputTokens?: number;
  outputTokens?: number;
}

export function addRouteCommands(program: Command): void {
  const route = program.command("route").description("the targets of routes and models");
  withCommonOptions(
    route
      .command("explain")
      .description("list the targets of a call: asked or not, why not, and the price; nothing is sent")
      .argument("<model>", "a model id, a route or an alias"),
  )
    .option("--token <id>", "the token that calls; without it one that may do everything", textOption("--token"))
    .addOption(
      new Option("--operation <name>", "what the call asks for").choices(modelOperations).default("chat" as const),
    )
    .option(
      "--input-tokens <count>",
      "the length of its input, for conditions and the cost",
      countOption("--input-tokens"),
    )
    .option("--output-tokens <count>", "the length of its answer, for the cost", countOption("--output-tokens"))
    .action(explain);
}

/** The rights of the caller, and the credits that are left for a call. */
async function callerOf(state: State, tokenId: string | undefined) {
  if (tokenId === undefined)
    return { caller: { models: undefined }, available: undefined, availableFor: () => undefined, refusal: undefined };
  const rights = await callRights(state, tokenId);
  if (rights === undefined) throw new UsageError(`there is no token ${tokenId}`);
  return rights;
}

/** Brings the keys to the state that other processes have learnt. Returns until when each circuit is open. */
function learn(router: ModelRouter, states: readonly TargetState[]): (circuit: string) => number | undefined {
  for (const { id, kind, changedAt } of states) {
    const { prefix, ...key } = readSharedKeyId(id);
    if (kind === "refused") router.withPrefix(prefix)?.keys.adopt(key, kind, changedAt);
  }
  return circuitEnds(states, environment.clock());
}

async function explain(model: string, options: ExplainOptions): Promise<void> {
  const { operation, token, inputTokens, outputTokens } = options;
  const { explained, caller } = await withRoutes(options, async ({ state, store, router }) => {
    const { circuits } = state.loaded.config.routing;
    const openUntil = learn(router, await store.statesSince(0));
    const found = await callerOf(state, token);
    const usage =
      inputTokens === undefined && outputTokens === undefined
        ? undefined
        : { input: inputTokens ?? 0, output: outputTokens ?? 0 };
    const question = { modelId: model, operation, usage, caller: found.caller, availableFor: found.availableFor };
    const answer = explainOrRefuse(router, { ...question, openUntil: circuits ? openUntil : () => undefined });
    return { explained: answer, caller: found };
  });
  const { available, refusal } = caller;
  const { targets, ...route } = explanationJson(explained);
  if (options.json === true) {
    return printJson({
      model,
      ...route,
      available: available === undefined ? null : creditsNumber(available),
      refused: refusal?.code ?? null,
      targets,
    });
  }
  const rows = targets.map(({ tier, model: id, weight, asked, why, until, price, cost }) => [
    String(tier),
    id,
    String(weight),
    asked ? "asked" : [why, until && `until ${until}`].filter(Boolean).join(" "),
    price === null ? "" : JSON.stringify(price),
    cost === null ? "" : String(cost),
  ]);
  printTable(["TIER", "TARGET", "WEIGHT", "STATE", "PRICE", "COST"], rows);
  for (const { message, model: id } of targets) if (message !== null) printLine(`${id}: ${message}`);
  if (refusal !== undefined) printLine(`!! ${refusal.message}`);
  if (available !== undefined) printLine(`${formatCredits(available)} credits are left for the token's calls.`);
}

function explainOrRefuse(...[router, question]: Parameters<typeof explainRoute>) {
  try {
    return explainRoute(router, question);
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw new UsageError(thrown.message);
    throw thrown;
  }
}
