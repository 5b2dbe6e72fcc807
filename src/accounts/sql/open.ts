import { tokens, type TokenRecord } from "../../auth/index.ts";
import { readerOf, runnerOf, type Storage } from "../../storage/index.ts";
import type { Holder, HolderKind } from "../holder.ts";
import type { Identity } from "../identity.ts";
import { identities, selectIdentities, selectIdentity } from "./identities.ts";
import {
  type Budget,
  type BudgetFilter,
  budgets,
  groups,
  type ModelGroup,
  selectBudget,
  selectBudgets,
  selectGroup,
  selectGroups,
  selectGroupsIn,
} from "./budgets.ts";
import { holders, selectHolder, selectHolders, selectUsers } from "./holders.ts";
import { selectTokens, type TokenFilter } from "./tokens.ts";

interface HolderFilter {
  kind: HolderKind;
  limit: number;
  after?: string | undefined;
  organisation?: string | undefined;
}

/** Organisations, users, their tokens and budgets, as they are now. Acts read them with statements of their own. */
export interface HolderStore {
  find(kind: HolderKind, idOrName: string): Promise<Holder | undefined>;
  /** By id, after one. */
  list(filter: HolderFilter): Promise<Holder[]>;
  /** Tokens of existing users, by id, after one. */
  tokens(filter: TokenFilter): Promise<{ token: TokenRecord; user: Holder }[]>;
  identity(place: Pick<Identity, "issuer" | "subject">): Promise<Identity | undefined>;
  /** Those of users, by their ids. */
  identities(users: readonly string[]): Promise<Identity[]>;
  budget(id: string): Promise<Budget | undefined>;
  budgets(filter: BudgetFilter): Promise<Budget[]>;
  group(idOrName: string): Promise<ModelGroup | undefined>;
  groups(page: { limit: number; after: string }): Promise<ModelGroup[]>;
  groupsIn(ids: readonly string[]): Promise<ModelGroup[]>;
}

export function openHolderStore(storage: Storage): HolderStore {
  const runner = runnerOf(storage);
  const reader = readerOf(storage);
  return {
    find: (kind, idOrName) => runner.first(selectHolder(kind, idOrName), holders.read),
    list: ({ kind, limit, after = "", organisation }) =>
      reader.rows(selectHolders(kind, { limit, after, organisation }), holders.read),
    identity: (place) => runner.first(selectIdentity(place), identities.read),
    identities: async (users) => (users.length === 0 ? [] : reader.rows(selectIdentities(users), identities.read)),
    budget: (id) => runner.first(selectBudget(id), budgets.read),
    budgets: (filter) => reader.rows(selectBudgets(filter), budgets.read),
    group: (idOrName) => runner.first(selectGroup(idOrName), groups.read),
    groups: ({ limit, after }) => reader.rows(selectGroups(after, limit), groups.read),
    groupsIn: (ids) => reader.rows(selectGroupsIn(ids), groups.read),
    async tokens(filter) {
      const found = await reader.rows(selectTokens(filter), tokens.read);
      const users = await reader.rows(selectUsers(found.map(({ user }) => user)), holders.read);
      const byId = new Map(users.map((user) => [user.id, user]));
      return found.flatMap((token) => {
        const user = byId.get(token.user);
        return user === undefined ? [] : [{ token, user }];
      });
    },
  };
}
