import { decimalOf, plainText } from "../../money/decimal.ts";
import type { FieldText } from "../../ui/field-text.ts";
import type { AccountKind, NamedAccount, Token, TokenPolicy } from "./types.ts";

/** A small number as a decimal: `1e-9` is none that somebody would write. */
export const textOf = (value: string | number | null | undefined): string =>
  typeof value === "number" ? plainText(decimalOf(value)) : (value ?? "");

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");

const listOrNull = (text: string): string[] | null => (listOf(text).length === 0 ? null : listOf(text));

export const textOrNull = (text: string): string | null => (text === "" ? null : text);

export const numberOrNull = (text: string): number | null => (text === "" ? null : Number(text));

/** A time as a field of local time has it, which is UTC here. */
export const minuteOf = (time: string | null | undefined): string => time?.slice(0, 16) ?? "";

export const timeOrNull = (text: string): string | null => (text === "" ? null : `${text}:00Z`);

/** Unit of a time that tokens live → its seconds, from the longest. */
const units = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 };

/** Seconds in the longest unit that they are whole numbers of. */
function inUnit(seconds: number | null | undefined): { count: string; unit: string } {
  if (seconds == null) return { count: "", unit: "days" };
  const [unit, length] = Object.entries(units).find(([, each]) => seconds % each === 0) ?? ["seconds", 1];
  return { count: String(seconds / length), unit };
}

/** Everything that a form may change. */
type Shown = Partial<Omit<NamedAccount & Token, "name" | "role">> & { name?: string | null; role?: string | null };

interface Member {
  /** The text of its field. */
  shown: (account: Shown) => string;
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
  tools: { shown: ({ tools }) => (tools ?? []).join(", "), read: listOrNull },
  rpm: { shown: ({ rpm }) => textOf(rpm), read: numberOrNull },
  tpm: { shown: ({ tpm }) => textOf(tpm), read: numberOrNull },
  concurrency: { shown: ({ concurrency }) => textOf(concurrency), read: numberOrNull },
  max_budget: { shown: ({ max_budget: most }) => textOf(most), read: numberOrNull },
  period: { shown: ({ period }) => textOf(period), read: textOrNull },
  expires_at: { shown: ({ expires_at: end }) => minuteOf(end), read: timeOrNull },
  prepaid: { shown: ({ prepaid }) => (prepaid === undefined ? "" : String(prepaid)), read: (text) => text === "true" },
  markup: { shown: ({ markup }) => textOf(markup), read: numberOrNull },
  tags: { shown: ({ tags = [] }) => tags.join(", "), read: listOf },
  metadata: {
    shown: ({ metadata }) =>
      Object.entries(metadata ?? {})
        .map((pair) => pair.join("="))
        .join("\n"),
    read: pairsOf,
  },
};

/** Lines such as `team=search` as an object; null of an empty text. A value may have any character. */
function pairsOf(text: string): Record<string, string> | null {
  const pairs = text
    .split("\n")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");
  if (pairs.length === 0) return null;
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = "", ...value] = pair.split("=");
      return [key.trim(), value.join("=").trim()];
    }),
  );
}

const common = ["name", "models", "tools", "rpm", "tpm", "concurrency", "max_budget", "period", "expires_at"];

type FormKind = AccountKind | "tokens";

const fields: Readonly<Record<FormKind, readonly string[]>> = {
  users: [...common, "prepaid", "organisation", "role"],
  projects: [...common, "prepaid", "organisation", "members"],
  organisations: [...common, "prepaid", "markup", "tags"],
  tokens: [...common, "metadata"],
};

/** The fields of `token_policy`, which is sent as a whole. */
const policyFields = ["policy", "policy_tokens", "policy_expires", "policy_unit", "policy_budget"];

function policyTexts(policy: TokenPolicy | null | undefined): Record<string, string> {
  const { max_tokens: tokens, max_expires: seconds, max_budget: budget } = policy ?? {};
  const { count, unit } = inUnit(seconds);
  return {
    policy: policy == null ? "" : "bounds",
    policy_tokens: textOf(tokens),
    policy_expires: count,
    policy_unit: unit,
    policy_budget: textOf(budget),
  };
}

function policyIn(text: FieldText): TokenPolicy | null {
  if (text("policy") === "") return null;
  const count = numberOrNull(text("policy_expires"));
  const length = units[text("policy_unit") as keyof typeof units] ?? units.days;
  const bounds = {
    max_tokens: numberOrNull(text("policy_tokens")),
    max_expires: count === null ? null : count * length,
    max_budget: numberOrNull(text("policy_budget")),
  };
  return Object.fromEntries(Object.entries(bounds).filter(([, bound]) => bound !== null));
}

/** The texts of the fields of an account; of a new one, without an account. */
export function shownFields(kind: FormKind, account: Shown = {}): Record<string, string> {
  const texts = Object.fromEntries(fields[kind].map((name) => [name, members[name]?.shown(account) ?? ""]));
  return kind === "organisations" ? { ...texts, ...policyTexts(account.token_policy) } : texts;
}

/** The members that differ from an account, for a `PATCH`; or from an empty one, for a `POST`. `only`: the fields of the form, if not all. */
export function changesOf(
  kind: FormKind,
  text: FieldText,
  account?: Shown,
  only?: ReadonlySet<string>,
): Record<string, unknown> {
  const before = shownFields(kind, account);
  const differs = (name: string): boolean => (only?.has(name) ?? true) && text(name) !== before[name];
  const changed = fields[kind].filter(differs);
  const changes = Object.fromEntries(changed.map((name) => [name, members[name]?.read(text(name))]));
  return kind === "organisations" && policyFields.some(differs)
    ? { ...changes, token_policy: policyIn(text) }
    : changes;
}
