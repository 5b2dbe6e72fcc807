/** Values of LiteLLM's rows. */
import { limits, type Nano, objectOf } from "../../core/index.ts";
import type { LitellmRow } from "../sql/read-database.ts";

export function textIn(row: LitellmRow, column: string): string | undefined {
  const value = row[column];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

export function textsIn(row: LitellmRow, column: string): string[] {
  const value = row[column];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string" && each !== "") : [];
}

export function numberIn(row: LitellmRow, column: string): number | undefined {
  const value = row[column];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A time in UTC, as milliseconds since the epoch. */
export function timeIn(row: LitellmRow, column: string): number | undefined {
  const text = textIn(row, column);
  if (text === undefined) return undefined;
  const hasZone = /(Z|[+-]\d\d(:?\d\d)?)$/.test(text);
  const at = Date.parse(hasZone ? text : `${text.replace(" ", "T")}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** An amount of dollars as nano-credits; undefined for none, and for one below zero. */
export function nanoOf(dollars: number | undefined): Nano | undefined {
  if (dollars === undefined || dollars < 0) return undefined;
  const nano = BigInt(Math.round(Math.min(dollars, 1e9) * 1e9));
  return nano > limits.grantNanoMax ? limits.grantNanoMax : nano;
}

/** Whether a column is set: neither empty nor its default. */
export function isSet(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === 0 || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  const members = objectOf(value);
  return members === undefined || Object.keys(members).length > 0;
}

const NAME_CHARACTERS_MAX = 128;

/** Names of accounts: letters, digits and . _ @ + -, each once. */
export class Names {
  readonly #taken = new Set<string>();

  /** A name like the wanted one, with a number if that is taken. Names that differ in case alone are different. */
  of(wanted: string): string {
    const plain = wanted.replaceAll(/[^\w.@+-]+/g, "-").slice(0, NAME_CHARACTERS_MAX - 8);
    let name = plain === "" ? "unnamed" : plain;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${plain}-${number}`;
    this.#taken.add(name);
    return name;
  }
}
