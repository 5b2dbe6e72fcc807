import { type BrowserSession, browserSessions, tokens, type TokenRecord } from "../../auth/index.ts";
import { readerOf, runnerOf, type Storage } from "../../storage/index.ts";
import { type Holder, type HolderKind, ownerOf, ownerPlace } from "../holder.ts";
import type { Identity } from "../identity.ts";
import { type OwnAlertChannel, alertChannels, selectAlertChannelsOf } from "./alert-channels.ts";
import { identities, selectIdentities, selectIdentity } from "./identities.ts";
import {
  type Budget,
  type BudgetFilter,
  budgets,
  groups,
  type ModelGroup,
  selectBudget,
  selectBudgets,
  selectBudgetsOf,
  selectGroup,
  selectGroups,
  selectGroupsIn,
} from "./budgets.ts";
import { holders, type PlacesFilter, selectHolder, selectHolders, selectHoldersIn, selectPlaces } from "./holders.ts";
import { selectSessions, type SessionFilter } from "./sessions.ts";
import { selectTokens, type TokenFilter } from "./tokens.ts";

interface HolderFilter {
  kind: HolderKind;
  limit: number;
  after?: string | undefined;
  organisation?: string | undefined;
  /** The id of a user, whose projects are wanted. */
  member?: string | undefined;
}

/** Organisations, users, projects, their tokens and budgets, as they are now. Acts read them with statements of their own. */
export interface HolderStore {
  find(kind: HolderKind, idOrName: string): Promise<Holder | undefined>;
  /** By id, after one. */
  list(filter: HolderFilter): Promise<Holder[]>;
  /** The users and projects with these ids, and the organisations with these accounts; missing ones are left out. */
  places(filter: PlacesFilter): Promise<Holder[]>;
  /** Tokens of existing users and projects, by id, after one. */
  tokens(filter: TokenFilter): Promise<{ token: TokenRecord; owner: Holder }[]>;
  /** Browsers' sessions that have not ended, by id, after one; without their users' names. */
  sessions(filter: SessionFilter): Promise<BrowserSession[]>;
  identity(place: Pick<Identity, "issuer" | "subject">): Promise<Identity | undefined>;
  /** Those of users, by their ids. */
  identities(users: readonly string[]): Promise<Identity[]>;
  budget(id: string): Promise<Budget | undefined>;
  budgets(filter: BudgetFilter): Promise<Budget[]>;
  /** Those of these accounts. */
  budgetsOf(accountIds: readonly string[]): Promise<Budget[]>;
  /** The alert channels of a user, by id. */
  alertChannels(owner: string): Promise<OwnAlertChannel[]>;
  group(idOrName: string): Promise<ModelGroup | undefined>;
  groups(page: { limit: number; after: string }): Promise<ModelGroup[]>;
  groupsIn(ids: readonly string[]): Promise<ModelGroup[]>;
}

export function openHolderStore(storage: Storage): HolderStore {
  const runner = runnerOf(storage);
  const reader = readerOf(storage);
  return {
    find: (kind, idOrName) => runner.first(selectHolder(kind, idOrName), holders.read),
    list: ({ kind, limit, after = "", organisation, member }) =>
      reader.rows(selectHolders(kind, { limit, after, organisation, member }), holders.read),
    places: (filter) => reader.rows(selectPlaces(filter), holders.read),
    sessions: (filter) => reader.rows(selectSessions(filter), browserSessions.read),
    identity: (place) => runner.first(selectIdentity(place), identities.read),
    identities: async (users) => (users.length === 0 ? [] : reader.rows(selectIdentities(users), identities.read)),
    budget: (id) => runner.first(selectBudget(id), budgets.read),
    budgets: (filter) => reader.rows(selectBudgets(filter), budgets.read),
    budgetsOf: (accountIds) => reader.rows(selectBudgetsOf(accountIds), budgets.read),
    alertChannels: (owner) => reader.rows(selectAlertChannelsOf(owner), alertChannels.read),
    group: (idOrName) => runner.first(selectGroup(idOrName), groups.read),
    groups: ({ limit, after }) => reader.rows(selectGroups(after, limit), groups.read),
    groupsIn: (ids) => reader.rows(selectGroupsIn(ids), groups.read),
    async tokens(filter) {
      const found = await reader.rows(selectTokens(filter), tokens.read);
      const places = Map.groupBy(
        found.map(({ user }) => ownerPlace(user)),
        ({ kind }) => kind,
      );
      const owners = await Promise.all(
        [...places].map(([kind, named]) =>
          reader.rows(
            selectHoldersIn(
              kind,
              named.map(({ id }) => id),
            ),
            holders.read,
          ),
        ),
      );
      const byOwner = new Map(owners.flat().map((owner) => [ownerOf(owner), owner]));
      return found.flatMap((token) => {
        const owner = byOwner.get(token.user);
        return owner === undefined ? [] : [{ token, owner }];
      });
    },
  };
}
