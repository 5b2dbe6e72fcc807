/** The addresses at which users and projects get messages about their own budgets. */
import { randomId } from "../../core/index.ts";
import { insertJob, type NewJob } from "../../jobs/index.ts";
import { firstOf, type Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { noBudget } from "../budgets/budgets.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { ownerOf } from "../holder.ts";
import {
  type OwnAlertChannel,
  alertChannels,
  deleteAlertChannel,
  insertAlertChannel,
  selectAlertChannelsOf,
} from "../sql/alert-channels.ts";
import { type Budget, budgets, selectBudget } from "../sql/budgets.ts";
import { findToken } from "../sql/tokens.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { presentsLimits, requireNoLimits } from "./token-policy.ts";

/** The most of one owner. */
const CHANNELS_MAX = 10;

const ID_CHARACTERS = 16;

/** A new channel; without a budget it is for all own ones. */
type ChannelRequest = Pick<OwnAlertChannel, "url" | "budgetId" | "thresholds">;

/**
 * Adds a channel of a user or project, whose address was checked. `watch`: the job that looks at the budgets, if there is none yet. Throws an
 * `AccountError`: 403 for a token with limits of its own, 404 for a budget that is not theirs, 409 if there are too many, or one with the same address and budgets.
 */
export function addAlertChannel(
  deps: AccountsDependencies,
  { owner, watch, ...request }: ChannelRequest & { owner: string; watch: NewJob },
  context: ActContext = {},
): Promise<OwnAlertChannel> {
  const { clock, randomBytes } = deps.environment;
  return deps.log.act(actOptions(deps, context), function* (note) {
    yield* requireNoLimits(deps, "sets no alert channel");
    if (request.budgetId !== undefined) yield* requireOwnBudget(owner, request.budgetId);
    const own = (yield selectAlertChannelsOf(owner)).map((row) => alertChannels.read(row));
    if (own.length >= CHANNELS_MAX)
      throw new AccountError(`There are ${CHANNELS_MAX} alert channels, which is the most: delete one first.`);
    const same = own.find(({ url, budgetId }) => url === request.url && budgetId === request.budgetId);
    if (same !== undefined)
      throw new AccountError(`The channel ${same.id} has this address and these budgets already.`);
    const id = `alert_channel_${randomId(randomBytes, ID_CHARACTERS)}`;
    const channel: OwnAlertChannel = { ...request, id, owner, createdAt: clock() };
    yield insertAlertChannel(channel);
    yield insertJob(watch);
    note({ act: "alert_channel.create", target: `alert_channel:${id}`, after: noted(channel) });
    return channel;
  });
}

/** Deletes a channel of the owner, which gets no further message. Throws 404 if the owner has none with this id. */
export function removeAlertChannel(
  deps: AccountsDependencies,
  { owner, id }: Pick<OwnAlertChannel, "owner" | "id">,
  context: ActContext = {},
): Promise<OwnAlertChannel> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const rows = yield selectAlertChannelsOf(owner);
    const channel = rows.map((row) => alertChannels.read(row)).find((each) => each.id === id);
    if (channel === undefined) throw new AccountError("There is no alert channel with this id.", "account_not_found");
    yield* requireNoLimits(deps, "deletes no alert channel");
    yield deleteAlertChannel(id);
    note({ act: "alert_channel.delete", target: `alert_channel:${id}`, before: noted(channel) });
    return channel;
  });
}

/**
 * The channels of the owner, by id. The rest of an address may be a secret, which is not for tokens with limits of their own: they get its origin
 * alone.
 */
export async function listAlertChannels(deps: AccountsDependencies, owner: string): Promise<OwnAlertChannel[]> {
  const own = await deps.holders.alertChannels(owner);
  if (own.length === 0 || !(await deps.log.act(actOptions(deps, {}), () => presentsLimits(deps)))) return own;
  return own.map((channel) => ({ ...channel, url: new URL(channel.url).origin }));
}

/** Throws 404 unless the budget is the owner's, or one of their tokens'. */
function* requireOwnBudget(owner: string, id: string): Steps<void> {
  const budget = yield* firstOf(selectBudget(id), budgets.read);
  if (budget === undefined || !(yield* isOwnBudget(owner, budget))) throw noBudget(id);
}

function* isOwnBudget(owner: string, { ownerKind, ownerId }: Budget): Steps<boolean> {
  if (ownerKind === "token") return (yield* findToken(ownerId))?.user === owner;
  return (ownerKind === "user" || ownerKind === "project") && ownerOf({ kind: ownerKind, id: ownerId }) === owner;
}

/** The rest of an address may be a secret. */
function noted({ owner, url, budgetId, thresholds }: OwnAlertChannel) {
  return { user_id: owner, host: new URL(url).host, budget: budgetId ?? null, thresholds: [...thresholds] };
}
