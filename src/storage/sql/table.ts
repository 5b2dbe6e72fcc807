import { Statement, Template, type Value } from "./statement.ts";

/** A row of either engine: 64-bit integers are bigints. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** How a column's values are read, and written. */
interface Column<Type> {
  /** Undefined if the value does not fit. */
  read: (value: unknown) => Type | undefined;
  write: (value: Type) => Value;
  /** By default the member's name with underscores. */
  name?: string;
  /** Whether NULL is undefined. */
  isOptional?: boolean;
}

const text: Column<string> = {
  read: (value) => (typeof value === "string" ? value : undefined),
  write: (value) => value,
};

/** An integer that a number holds exactly. */
const integer: Column<number> = {
  read: (value) => (typeof value === "bigint" || Number.isSafeInteger(value) ? Number(value) : undefined),
  write: (value) => value,
};

const bigInteger: Column<bigint> = {
  read: (value) => (typeof value === "bigint" ? value : undefined),
  write: (value) => value,
};

const real: Column<number> = {
  read: (value) => (typeof value === "number" ? value : undefined),
  write: (value) => value,
};

const bytes: Column<Uint8Array> = {
  read: (value) => (value instanceof Uint8Array ? value : undefined),
  write: (value) => value,
};

/** A boolean on Postgres, 0 or 1 on SQLite. */
const flag: Column<boolean> = {
  read: (value) => (typeof value === "boolean" ? value : value === 1n || (value === 0n ? false : undefined)),
  write: (value) => value,
};

/** A text that is one of the keys. */
function oneOf<Type extends string>(values: Readonly<Record<Type, unknown>>): Column<Type> {
  const isKnown = (value: unknown): value is Type => typeof value === "string" && Object.hasOwn(values, value);
  return { read: (value) => (isKnown(value) ? value : undefined), write: (value) => value };
}

/** JSON as text. `parse` throws if it does not fit. */
function json<Type extends object>({ parse }: { parse: (value: unknown) => Type }): Column<Type> {
  return {
    read: (value) => (typeof value === "string" ? parse(JSON.parse(value)) : undefined),
    write: (value) => JSON.stringify(value),
  };
}

function optional<Type>({ read, write, ...rest }: Column<Type>): Column<Type | undefined> {
  return { ...rest, read, write: (value) => (value === undefined ? null : write(value)), isOptional: true };
}

function named<Type>(name: string, column: Column<Type>): Column<Type> {
  return { ...column, name };
}

export const column = { text, integer, bigInteger, real, bytes, flag, oneOf, json, optional, named };

type Columns<Entry> = { readonly [Name in keyof Entry]-?: Column<Entry[Name]> };

/** The columns of a table as members of an object. */
interface Table<Entry> {
  /** `id, video_id …` */
  names: Statement;
  /** Throws if the row does not fit. */
  read: (row: SqlRow) => Entry;
  /** The values of all columns, in the order of `names`. */
  values: (entry: Entry) => Statement;
}

export function tableOf<Entry extends object>(columns: Columns<Entry>): Table<Entry> {
  const keys = Object.keys(columns) as (keyof Entry & string)[];
  const members = keys.map((key) => ({ key, name: columns[key].name ?? underscored(key), type: columns[key] }));
  const names = members.map(({ name }) => name).join(", ");
  const values = Template.of(
    ["", ...keys.slice(1).map(() => ", "), ""],
    keys.map(() => undefined),
  );
  return {
    names: new Statement(Template.of([names], []), []),
    read: (row) => {
      const entry: Partial<Entry> = {};
      for (const { key, name, type } of members) {
        const value = row[name];
        const read = value === null ? undefined : type.read(value);
        if (read === undefined && !(value === null && type.isOptional)) throw new Error(`a stored ${name} is unusable`);
        entry[key] = read;
      }
      return entry as Entry;
    },
    values: (entry) =>
      new Statement(
        values,
        members.map(({ key, type }) => type.write(entry[key])),
      ),
  };
}

const underscored = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
