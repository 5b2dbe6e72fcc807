/** The rows of a file of people: CSV, or JSON with `people`. */
import { isUtf8 } from "node:buffer";
import { z } from "@hono/zod-openapi";
import { CsvError, parse } from "csv-parse/sync";
import type { PersonRow } from "../../../accounts/index.ts";
import { checkBody, parseBody } from "../../../bodies/index.ts";
import { GatewayError, objectOf } from "../../../core/index.ts";
import { limitChangesOf, limitSettings, name, policySettings, reason, reference, role } from "../requests.ts";

/** Rows of one file; each has a few statements in one commit. */
const PEOPLE_MAX = 1_000;

const person = z
  .strictObject({
    name,
    organisation: reference.nullish().describe("Its id or name; null for none."),
    role: role.optional(),
    token: z.boolean().optional().describe("Issues a token to a user who has none."),
    ...policySettings,
    ...limitSettings,
    disabled: z.boolean().optional(),
  })
  .meta({ id: "AdminPerson" });

export const peopleBody = z
  .strictObject({ people: z.array(person).min(1).max(PEOPLE_MAX), reason })
  .meta({ id: "AdminPeopleRequest" });

const outerBody = z.strictObject({ people: z.array(z.unknown()).min(1).max(PEOPLE_MAX), reason });

export interface PeopleFile {
  people: PersonRow[];
  reason: string | undefined;
}

/** Reads JSON, or CSV. Throws a 422 `GatewayError` that names the row, counted from 1. */
export function readPeople(bytes: Uint8Array, form: "json" | "csv"): PeopleFile {
  const { people, reason: why } =
    form === "json" ? parseBody(bytes, outerBody, []).body : checkBody({ people: recordsOf(bytes) }, outerBody);
  return { people: people.map(personOf), reason: why ?? undefined };
}

function personOf(record: unknown, index: number): PersonRow {
  try {
    const { name: named, organisation, role: given, token, disabled, ...limits } = checkBody(record, person);
    return { name: named, organisation, role: given, token, changes: { ...limitChangesOf(limits), disabled } };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const param = ["people", index, ...(thrown.param === undefined ? [] : [thrown.param])].join(".");
    const label = name.safeParse(objectOf(record)?.["name"]).data;
    throw invalid(`row ${index + 1}${label === undefined ? "" : ` (${label})`}: ${thrown.message}`, param);
  }
}

function invalid(message: string, param?: string): GatewayError {
  return new GatewayError("validation_failed", message, { param });
}

const text = (cell: string): string => cell;
const words = (cell: string): string[] => cell.split(/[\s,]+/).filter((word) => word !== "");
/** Other texts stay, which the schema refuses. */
const number = (cell: string): unknown => (/^\d{1,15}(\.\d{1,9})?$/.test(cell) ? Number(cell) : cell);
const flag = (cell: string): unknown => ({ true: true, false: false })[cell.toLowerCase()] ?? cell;

/** How the cells of each column are read. */
const columns: Readonly<Record<string, (cell: string) => unknown>> = {
  name: text,
  organisation: text,
  role: text,
  token: flag,
  models: words,
  tools: words,
  rpm: number,
  tpm: number,
  concurrency: number,
  max_budget: number,
  period: text,
  expires_at: text,
  disabled: flag,
};

/** An empty cell says nothing, as a missing member does; `none` takes a limit away, as null does. */
function recordsOf(csv: Uint8Array): object[] {
  const lines = linesOf(csv);
  const [header = [], ...rest] = lines;
  const unknown = header.find((column) => !Object.hasOwn(columns, column));
  if (unknown !== undefined || new Set(header).size < header.length || !header.includes("name"))
    throw invalid(`The first line names columns, each once, with name: ${Object.keys(columns).join(", ")}.`);
  return rest.map((cells) => {
    const filled = cells.flatMap((cell, index) => {
      const column = header[index] ?? "";
      return cell === "" ? [] : [[column, cell === "none" && column !== "name" ? null : columns[column]?.(cell)]];
    });
    return Object.fromEntries(filled) as object;
  });
}

function linesOf(csv: Uint8Array): string[][] {
  if (!isUtf8(csv)) throw invalid("The CSV is not valid UTF-8.");
  try {
    return parse(Buffer.from(csv), { bom: true, trim: true, skip_empty_lines: true, to: PEOPLE_MAX + 2 });
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    throw invalid(`The CSV can't be read: ${thrown.code}, line ${Number(thrown["lines"] ?? 0)}.`);
  }
}
