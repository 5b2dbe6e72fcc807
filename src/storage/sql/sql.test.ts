import { expect, test } from "bun:test";
import { LOCK_OR_SKIP, sql } from "./statement.ts";
import { column, tableOf } from "./table.ts";

const texts = ({ template }: ReturnType<typeof sql>): string[] => [
  template.textFor("sqlite"),
  template.textFor("postgres"),
];

test("a statement has its engine's placeholders and clauses, also those of its parts", () => {
  const held = (id: string) => sql`id = ${id} AND lease = ${undefined}`;
  const statement = sql`SELECT ${1} WHERE ${held("a")} ${LOCK_OR_SKIP} LIMIT ${2n}`;
  expect(texts(statement)).toEqual([
    "SELECT ? WHERE id = ? AND lease = ?  LIMIT ?",
    "SELECT $1 WHERE id = $2 AND lease = $3 FOR UPDATE SKIP LOCKED LIMIT $4",
  ]);
  expect(statement.values).toEqual([1, "a", null, 2n]);
});

test("the text is built once per call site, whose parts stay the same", () => {
  const build = (part: ReturnType<typeof sql> | number) => sql`SELECT ${part}`;
  expect(build(1).template).toBe(build(2).template);
  expect(() => build(sql`x`)).toThrow(TypeError);
});

test("a row is read column by column; one that does not fit is refused", () => {
  const table = tableOf({ keyId: column.optional(column.text), madeAt: column.integer, isOn: column.flag });
  expect(texts(table.names)[0]).toBe("key_id, made_at, is_on");
  expect(table.read({ key_id: null, made_at: 5n, is_on: 1n })).toEqual({ keyId: undefined, madeAt: 5, isOn: true });
  for (const row of [{ key_id: 1, made_at: 5n, is_on: true }, { key_id: null, made_at: null, is_on: true }, {}])
    expect(() => table.read(row)).toThrow("is unusable");
});
