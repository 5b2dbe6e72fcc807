/** LiteLLM's rows become a plan of accounts. */
import type { AccountsPlan, ImportedBudget, ImportedHolder, ImportedToken } from "../../accounts/index.ts";
import { type Calendar, objectOf } from "../../core/index.ts";
import type { Findings } from "../finding.ts";
import { BudgetReader } from "./budgets.ts";
import { otherTables, tableFields } from "./fields.ts";
import { type Permits, policyOf } from "./policies.ts";
import type { LitellmDatabase, LitellmRow } from "../sql/read-database.ts";
import { isSet, Names, textIn, textsIn, timeIn } from "./values.ts";

export interface PlanOptions {
  database: LitellmDatabase;
  permits: Permits;
  findings: Findings;
  prepaid: boolean;
  /** The days of the storage that the accounts are imported into. */
  calendar: Calendar;
  at: number;
}

/** The organisation of those who are in none, and the user of keys that are nobody's. */
const DEFAULT_ORGANISATION = "litellm";
const NOBODY = "litellm-keys";

/** The id of both: LiteLLM's own have no space at their beginning. */
const MADE = " none";

/** Sessions of LiteLLM's own pages. */
const DASHBOARD_TEAM = "litellm-dashboard";

/** Budgets in which a call can count beside its chain. */
const BUDGETS_MAX = 4;

export function planAccounts(options: PlanOptions): AccountsPlan {
  const planner = new Planner(options);
  noteColumns(options);
  return planner.plan();
}

class Planner {
  readonly #options: PlanOptions;
  readonly #budgetReader: BudgetReader;
  readonly #holders = new Map<string, ImportedHolder>();
  readonly #tokens: ImportedToken[] = [];
  readonly #budgets: ImportedBudget[] = [];
  /** The number of budgets of each holder. */
  readonly #budgetsOf = new Map<string, number>();

  constructor(options: PlanOptions) {
    this.#options = options;
    const { database, calendar, at, findings } = options;
    const shared = new Map(database.rows("LiteLLM_BudgetTable").map((row) => [textIn(row, "budget_id") ?? "", row]));
    const windows = database.rows("LiteLLM_BudgetWindowSpend");
    this.#budgetReader = new BudgetReader({ shared, windows, calendar, at, findings });
  }

  plan(): AccountsPlan {
    this.#organisations();
    this.#users();
    this.#teams();
    this.#keys();
    const { prepaid } = this.#options;
    if (!this.#tokens.some(({ owner }) => owner.foreignId === MADE)) this.#holders.delete(`user:${MADE}`);
    if (![...this.#holders.values()].some(({ organisation }) => organisation === MADE))
      this.#holders.delete(`organisation:${MADE}`);
    const holders = [...this.#holders.values()];
    return { source: "litellm", prepaid, holders, tokens: this.#tokens, budgets: this.#budgets };
  }

  #organisations(): void {
    const names = new Names();
    this.#addHolder({ kind: "organisation", foreignId: MADE, name: names.of(DEFAULT_ORGANISATION) });
    for (const row of this.#rows("LiteLLM_OrganizationTable", "organization_id")) {
      const foreignId = textIn(row, "organization_id") ?? "";
      const name = names.of(textIn(row, "organization_alias") ?? foreignId);
      this.#addHolder({ kind: "organisation", foreignId, name }, row, "organization");
    }
  }

  #users(): void {
    const names = new Names();
    const memberships = new Map<string, string>();
    for (const row of this.#options.database.rows("LiteLLM_OrganizationMembership")) {
      const user = textIn(row, "user_id") ?? "";
      if (!memberships.has(user)) memberships.set(user, textIn(row, "organization_id") ?? "");
    }
    const ofTeams = new Map<string, string>();
    for (const team of this.#options.database.rows("LiteLLM_TeamTable"))
      for (const user of membersOf(team))
        if (!ofTeams.has(user)) ofTeams.set(user, textIn(team, "organization_id") ?? "");
    this.#addHolder({ kind: "user", foreignId: MADE, name: names.of(NOBODY), organisation: MADE });
    for (const row of this.#rows("LiteLLM_UserTable", "user_id")) {
      const foreignId = textIn(row, "user_id") ?? "";
      const wanted = textIn(row, "organization_id") ?? memberships.get(foreignId) ?? ofTeams.get(foreignId);
      const name = names.of(textIn(row, "user_email") ?? foreignId);
      this.#addHolder({ kind: "user", foreignId, name, organisation: this.#organisationOf(wanted) }, row, "user");
    }
  }

  #teams(): void {
    const names = new Names();
    for (const row of this.#rows("LiteLLM_TeamTable", "team_id")) {
      const foreignId = textIn(row, "team_id") ?? "";
      const organisation = this.#organisationOf(textIn(row, "organization_id"));
      const isHere = (user: string): boolean => this.#holders.get(`user:${user}`)?.organisation === organisation;
      const all = membersOf(row);
      const members = all.filter(isHere);
      if (members.length < all.length)
        this.#note(`LiteLLM_TeamTable ${foreignId}`, "members of another organisation, or without a row, are left out");
      const name = names.of(textIn(row, "team_alias") ?? foreignId);
      const wanted = { kind: "project", foreignId, name, organisation, members } as const;
      this.#addHolder(wanted, row, "team");
    }
  }

  #organisationOf(wanted: string | undefined): string {
    return wanted !== undefined && this.#holders.has(`organisation:${wanted}`) ? wanted : MADE;
  }

  #addHolder(
    holder: Pick<ImportedHolder, "kind" | "foreignId" | "name" | "organisation" | "members">,
    row: LitellmRow = {},
    entity = "",
  ): void {
    const { kind, foreignId } = holder;
    const field = `${entity} ${foreignId}`;
    const { isClosed, ...policy } = policyOf(row, this.#budgetReader.sharedOf(row), { ...this.#options, field });
    const budgets = entity === "" ? [] : this.#budgetReader.read({ owner: { kind, foreignId }, row, entity, field });
    const room = this.#roomBelow("organisation", holder.organisation ?? "");
    if (budgets.length > room) this.#note(field, "it has more budgets than a call can count in: it is disabled");
    const disabled = row["blocked"] === true || isClosed || budgets.length > room;
    this.#holders.set(`${kind}:${foreignId}`, { ...holder, ...policy, disabled });
    this.#budgetsOf.set(`${kind}:${foreignId}`, Math.min(budgets.length, room));
    this.#budgets.push(...budgets.slice(0, room));
  }

  /** How many budgets more the calls below a holder can count in. */
  #roomBelow(kind: ImportedHolder["kind"], foreignId: string): number {
    const above = this.#holders.get(`${kind}:${foreignId}`)?.organisation;
    const taken =
      (this.#budgetsOf.get(`organisation:${above}`) ?? 0) + (this.#budgetsOf.get(`${kind}:${foreignId}`) ?? 0);
    return Math.max(0, BUDGETS_MAX - taken);
  }

  #keys(): void {
    const { database } = this.#options;
    const deprecated = deprecatedKeys(database.rows("LiteLLM_DeprecatedVerificationToken"));
    for (const row of this.#rows("LiteLLM_VerificationToken", "token")) {
      const hash = textIn(row, "token") ?? "";
      const field = `key ${textIn(row, "key_alias") ?? textIn(row, "key_name") ?? hash.slice(0, 8)}`;
      if (!isHash(hash)) {
        this.#options.findings.note(field, "by hand", "it is stored without a hash: make a new token");
        continue;
      }
      if (textIn(row, "team_id") === DASHBOARD_TEAM) continue;
      const earlier = (deprecated.get(hash.toLowerCase()) ?? []).flatMap((old) => {
        const [before = "", validUntil = 0] = [textIn(old, "token"), timeIn(old, "revoke_at")];
        return isHash(before) ? [{ hash: before.toLowerCase(), validUntil }] : [];
      });
      this.#addKey(row, { hash: hash.toLowerCase(), field, earlier });
    }
  }

  #addKey(
    row: LitellmRow,
    { hash, field, earlier }: { hash: string; field: string; earlier: ImportedToken["earlier"] },
  ): void {
    const { isClosed, ...policy } = policyOf(row, this.#budgetReader.sharedOf(row), { ...this.#options, field });
    const owner = this.#ownerOf(row, field);
    const place = { kind: "token", foreignId: hash } as const;
    const budgets = this.#budgetReader.read({ owner: place, row, entity: "key", field });
    const room = this.#roomBelow(owner.kind, owner.foreignId);
    if (budgets.length > room) this.#note(field, "it has more budgets than a call can count in: it is paused");
    if (isNarrow(row)) this.#note(field, "it may not call models, or only some routes: it is paused");
    this.#tokens.push({
      foreignId: hash,
      owner,
      name: new Names().of(textIn(row, "key_alias") ?? textIn(row, "key_name") ?? "imported"),
      ...policy,
      expiresAt: timeIn(row, "expires"),
      paused: row["blocked"] === true || isClosed || isNarrow(row) || budgets.length > room,
      earlier,
    });
    const earlierIds = ({ foreignId }: ImportedBudget): string[] =>
      earlier.map((before) => foreignId.replace(hash, before.hash));
    this.#budgets.push(...budgets.slice(0, room).map((budget) => ({ ...budget, earlierIds: earlierIds(budget) })));
  }

  #ownerOf(row: LitellmRow, field: string): ImportedToken["owner"] {
    const [team, user] = [textIn(row, "team_id"), textIn(row, "user_id")];
    if (team !== undefined && this.#holders.has(`project:${team}`)) return { kind: "project", foreignId: team };
    if (team !== undefined) this.#note(field, `its team ${team} has no row: it belongs to its user`);
    if (user !== undefined && this.#holders.has(`user:${user}`)) return { kind: "user", foreignId: user };
    if (user !== undefined) this.#note(field, `its user ${user} has no row: it belongs to ${NOBODY}`);
    return { kind: "user", foreignId: MADE };
  }

  /** In the order of their ids, so that every run gives them the same names. */
  #rows(table: string, key: string): LitellmRow[] {
    const idOf = (row: LitellmRow): string => textIn(row, key) ?? "";
    const rows = this.#options.database.rows(table).filter((row) => idOf(row) !== "");
    return rows.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
  }

  #note(field: string, note: string): void {
    this.#options.findings.note(field, "by hand", note);
  }
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

const hashIn = (row: LitellmRow, column: string): string => textIn(row, column)?.toLowerCase() ?? "";

/** Rows of keys before a rotation, by the key that they stand for now: one that was rotated again names the next one. */
function deprecatedKeys(rows: readonly LitellmRow[]): ReadonlyMap<string, readonly LitellmRow[]> {
  const nexts = new Map(rows.map((row) => [hashIn(row, "token"), hashIn(row, "active_token_id")]));
  return Map.groupBy(rows, (row) => {
    const seen = new Set<string>();
    let active = hashIn(row, "active_token_id");
    for (let next = nexts.get(active); next !== undefined && !seen.has(active); next = nexts.get(active)) {
      seen.add(active);
      active = next;
    }
    return active;
  });
}

/** Ids of the users of a team, each once. */
function membersOf(team: LitellmRow): string[] {
  const roles = Array.isArray(team["members_with_roles"]) ? team["members_with_roles"] : [];
  const named = roles.flatMap((entry: unknown) => textIn(objectOf(entry) ?? {}, "user_id") ?? []);
  return [...new Set([...textsIn(team, "members"), ...named])];
}

/** Whether a key may do less than call models: here a token calls all of them, so it is not let in as it is. */
function isNarrow(row: LitellmRow): boolean {
  const type = textIn(row, "key_type");
  const routes = textsIn(row, "allowed_routes");
  const callsModels = routes.some((route) => ["llm_api_routes", "openai_routes", "*", "/*"].includes(route));
  return (type !== undefined && !["default", "llm_api"].includes(type)) || (routes.length > 0 && !callsModels);
}

/** Notes each column that is set in some row, and each further table that has rows. */
function noteColumns({ database, findings }: PlanOptions): void {
  for (const [table, rules] of Object.entries(tableFields)) {
    const used = database.rows(table).flatMap((row) => Object.entries(row).filter(([, value]) => isSet(value)));
    findings.noteMembers(table, Object.fromEntries(used), rules, new Set());
  }
  for (const table of database.others) {
    const rule = Object.hasOwn(otherTables, table) ? otherTables[table] : undefined;
    findings.note(table, rule?.fidelity ?? "by hand", rule?.to ?? "not known to the import");
  }
}
