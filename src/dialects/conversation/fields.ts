import { type Dialect, GatewayError, type JsonObject } from "../../core/index.ts";

/**
 * The support for a request's field in another dialect.
 *
 * - `translated`: expressed in that dialect's way, by the code of both.
 * - `carried`: same name and meaning there; passed on unchanged.
 * - `dropped`: no counterpart, and the answer is equivalent without it.
 * - `refused`: no counterpart, and an answer without it would not be the requested one: 422.
 */
type FieldSupport = "translated" | "carried" | "dropped" | "refused";

/** The support for one field. */
export interface FieldRule {
  /**
   * By the dialect of the target: its own, which carries it, and every other, so that a new dialect requires a
   * decision.
   */
  support: Readonly<Record<Dialect, FieldSupport>>;
  /** A remark for readers of the table. */
  note?: string;
  /** Values that request nothing, beyond null, false and empty values: never refused. */
  noOpValues?: readonly unknown[];
  /** Whether a value requests the unsupported feature, if `noOpValues` cannot express that. */
  isRequested?: (value: unknown) => boolean;
}

/** By the field's name; a nested field by its path, `messages.content.image_url`. */
export type FieldTable = Readonly<Record<string, FieldRule>>;

/** A client's body, for the fields without a member in the model, and the table of their support. */
export interface UnmodeledFields {
  dialect: Dialect;
  table: FieldTable;
  body: JsonObject;
  /** The fields that the model has read. */
  known: ReadonlySet<string>;
}

/**
 * The members of `fields` for a target of this dialect, under their own names. Throws for a required one that the dialect
 * cannot express. An unknown field stays in the dialect that it came in.
 */
export function fieldsFor(fields: UnmodeledFields, dialect: Dialect): Record<string, unknown> {
  const unknownSupport = fields.dialect === dialect ? "carried" : "dropped";
  const carried: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields.body)) {
    const rule = Object.hasOwn(fields.table, name) ? fields.table[name] : undefined;
    const support = rule === undefined ? unknownSupport : rule.support[dialect];
    if (support === "carried" && value !== undefined && !fields.known.has(name)) carried[name] = value;
    if (support === "refused" && requestsFeature(value, rule)) throw refused(name);
  }
  return carried;
}

/** The refusal of a field that the model's upstream cannot express. */
export function refused(param: string, what = "This"): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${what} can't be expressed for this model's provider.`, {
    param,
  });
}

function requestsFeature(value: unknown, { noOpValues = [], isRequested }: Omit<FieldRule, "support"> = {}): boolean {
  if (value === null || value === undefined || value === false || value === "") return false;
  if (typeof value === "object" && Object.keys(value).length === 0) return false;
  if (isRequested !== undefined) return isRequested(value);
  const text = JSON.stringify(value);
  return noOpValues.every((one) => JSON.stringify(one) !== text);
}
