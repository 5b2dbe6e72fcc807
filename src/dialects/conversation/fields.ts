import { type Dialect, GatewayError, type JsonObject } from "../../core/index.ts";

/**
 * What becomes of a request's field in another dialect.
 *
 * - `translated`: said in that dialect's way, by the code of both.
 * - `carried`: the same name and the same meaning there; passed on as it is.
 * - `dropped`: it has no counterpart, and the answer is as good without it.
 * - `refused`: it has no counterpart, and an answer without it would not be what was asked for: 422.
 */
type FieldSupport = "translated" | "carried" | "dropped" | "refused";

/** What becomes of one field. */
export interface FieldRule {
  /** By the dialect of the target: its own, where it is carried, and every other, so that a new dialect forces a decision. */
  support: Readonly<Record<Dialect, FieldSupport>>;
  /** What a reader of the table should know. */
  note?: string;
  /** Values that ask for nothing, beyond null, false and what is empty: never refused. */
  noOpValues?: readonly unknown[];
  /** Whether a value asks for what is refused, where that is more than `noOpValues` can say. */
  isRequested?: (value: unknown) => boolean;
}

/** By the field's name; a field within another by its path, `messages.content.image_url`. */
export type FieldTable = Readonly<Record<string, FieldRule>>;

/** A client's body, for the fields that the model has no member for, and the table that says what becomes of each. */
export interface UnmodeledFields {
  dialect: Dialect;
  table: FieldTable;
  body: JsonObject;
  /** The fields that the model has read. */
  known: ReadonlySet<string>;
}

/**
 * The members of `rest` that a target of this dialect gets, under their own names. Throws for one that it can't do
 * without and can't express. A field that no table knows is for the dialect that it came in, and stays there.
 */
export function fieldsFor(rest: UnmodeledFields, dialect: Dialect): Record<string, unknown> {
  const unknownFate = rest.dialect === dialect ? "carried" : "dropped";
  const carried: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest.body)) {
    const rule = Object.hasOwn(rest.table, name) ? rest.table[name] : undefined;
    const fate = rule === undefined ? unknownFate : rule.support[dialect];
    if (fate === "carried" && value !== undefined && !rest.known.has(name)) carried[name] = value;
    if (fate === "refused" && asksFor(value, rule)) throw refused(name);
  }
  return carried;
}

/** The refusal of a field that the model's upstream has no words for. */
export function refused(param: string, what = "This"): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${what} can't be expressed for this model's provider.`, {
    param,
  });
}

function asksFor(value: unknown, { noOpValues = [], isRequested }: Omit<FieldRule, "support"> = {}): boolean {
  if (value === null || value === undefined || value === false || value === "") return false;
  if (typeof value === "object" && Object.keys(value).length === 0) return false;
  if (isRequested !== undefined) return isRequested(value);
  const text = JSON.stringify(value);
  return noOpValues.every((one) => JSON.stringify(one) !== text);
}
