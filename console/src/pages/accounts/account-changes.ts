import { decimalOf, plainText } from "../../money/decimal.ts";
import type { FieldText } from "../../ui/field-text.ts";
import type { AccountKind, NamedAccount } from "./types.ts";

/** A small number as a decimal: `1e-9` is none that somebody would write. */
const textOf = (value: string | number | null | undefined): string =>
  typeof value === "number" ? plainText(decimalOf(value)) : (value ?? "");

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");

const listOrNull = (text: string): string[] | null => (listOf(text).length === 0 ? null : listOf(text));

const textOrNull = (text: string): string | null => (text === "" ? null : text);

const numberOrNull = (text: string): number | null => (text === "" ? null : Number(text));

interface Member {
  /** The text of its field. */
  shown: (account: Partial<NamedAccount>) => string;
  /** The value for the API. */
  read: (text: string) => unknown;
}

/** Member of the API, which is the field's name → its text and its value. */
const members: Readonly<Record<string, Member>> = {
  name: { shown: ({ name }) => textOf(name), read: (text) => text },
  organisation: { shown: ({ organisation }) => textOf(organisation), read: textOrNull },
  role: { shown: ({ role }) => role ?? "member", read: (text) => text },
  members: { shown: ({ members: names = [] }) => names.join(", "), read: listOf },
  models: { shown: ({ models }) => (models ?? []).join(", "), read: listOrNull },
  rpm: { shown: ({ rpm }) => textOf(rpm), read: numberOrNull },
  tpm: { shown: ({ tpm }) => textOf(tpm), read: numberOrNull },
  concurrency: { shown: ({ concurrency }) => textOf(concurrency), read: numberOrNull },
  max_budget: { shown: ({ max_budget: most }) => textOf(most), read: numberOrNull },
  period: { shown: ({ period }) => textOf(period), read: textOrNull },
};

const common = ["name", "models", "rpm", "tpm", "concurrency", "max_budget", "period"];

const fields: Readonly<Record<AccountKind, readonly string[]>> = {
  users: [...common, "organisation", "role"],
  projects: [...common, "organisation", "members"],
  organisations: common,
};

/** The texts of the fields of an account; of a new one, without an account. */
export function shownFields(kind: AccountKind, account: Partial<NamedAccount> = {}): Record<string, string> {
  return Object.fromEntries(fields[kind].map((name) => [name, members[name]?.shown(account) ?? ""]));
}

/** The members that differ from an account, for a `PATCH`; or from an empty one, for a `POST`. */
export function changesOf(kind: AccountKind, text: FieldText, account?: NamedAccount): Record<string, unknown> {
  const before = shownFields(kind, account);
  const changed = fields[kind].filter((name) => text(name) !== before[name]);
  return Object.fromEntries(changed.map((name) => [name, members[name]?.read(text(name))]));
}
