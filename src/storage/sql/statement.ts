import type { Parameter } from "../postgres/statements.ts";

export type Engine = "sqlite" | "postgres";

/** A value of a statement. Undefined is NULL. */
export type Value = Exclude<Parameter, readonly (string | null)[]>;

/** The text of a statement or of a part of one: a value belongs between each two of its pieces. */
export class Template {
  readonly #pieces: Record<Engine, readonly string[]>;
  readonly #texts = new Map<Engine, string>();

  constructor(pieces: Record<Engine, readonly string[]>) {
    this.#pieces = pieces;
  }

  static of(strings: readonly string[], parts: readonly (Template | undefined)[]): Template {
    const pieces = (engine: Engine): string[] => {
      const joined = [strings[0] ?? ""];
      for (const [index, part] of parts.entries()) {
        const [first = "", ...rest] = part === undefined ? ["", ""] : part.#pieces[engine];
        joined.push(`${joined.pop()}${first}`, ...rest);
        joined.push(`${joined.pop()}${strings[index + 1]}`);
      }
      return joined;
    };
    return new Template({ sqlite: pieces("sqlite"), postgres: pieces("postgres") });
  }

  /** With `?` on SQLite and `$1`, `$2` … on Postgres. */
  textFor(engine: Engine): string {
    let text = this.#texts.get(engine);
    if (text === undefined) {
      const [first = "", ...rest] = this.#pieces[engine];
      text = first + rest.map((piece, index) => (engine === "sqlite" ? `?${piece}` : `$${index + 1}${piece}`)).join("");
      this.#texts.set(engine, text);
    }
    return text;
  }
}

/** A statement for both engines, or a part of one. */
export class Statement {
  readonly template: Template;
  readonly values: readonly Value[];

  constructor(template: Template, values: readonly Value[]) {
    this.template = template;
    this.values = values;
  }
}

interface CallSite {
  template: Template;
  parts: readonly (Template | undefined)[];
}

const callSites = new WeakMap<TemplateStringsArray, CallSite>();

/**
 * A statement with values and other statements in it. Its text is built once per call site, so a part always has the
 * same text there. Each `${value}` is a parameter of its own: Postgres infers the type of each from its position.
 */
export function sql(strings: TemplateStringsArray, ...inserted: (Value | Statement | undefined)[]): Statement {
  let site = callSites.get(strings);
  if (site === undefined) {
    const parts = inserted.map((part) => (part instanceof Statement ? part.template : undefined));
    site = { template: Template.of(strings, parts), parts };
    callSites.set(strings, site);
  }
  const values: Value[] = [];
  for (let index = 0; index < inserted.length; index += 1) {
    const part = inserted[index];
    const isStatement = part instanceof Statement;
    if (site.parts[index] !== (isStatement ? part.template : undefined))
      throw new TypeError("a part of a statement is another");
    if (isStatement) values.push(...part.values);
    else values.push(part ?? null);
  }
  return new Statement(site.template, values);
}

/** A statement of parts whose number and texts vary from one to the next. */
export function joinStatements(parts: readonly Statement[], separator: string): Statement {
  const between = ["", ...parts.slice(1).map(() => separator), parts.length === 0 ? [] : ""].flat();
  const template = Template.of(
    between,
    parts.map((part) => part.template),
  );
  return new Statement(
    template,
    parts.flatMap(({ values }) => values),
  );
}

/** A part whose text is given per engine. */
export function perEngine(texts: Record<Engine, string>): Statement {
  return new Statement(new Template({ sqlite: [texts.sqlite], postgres: [texts.postgres] }), []);
}

/**
 * Locks the rows of a SELECT, without those that another process has locked. SQLite needs no clause: a statement that
 * writes has the file's write lock from its first read.
 */
export const LOCK_OR_SKIP = perEngine({ sqlite: "", postgres: "FOR UPDATE SKIP LOCKED" });

/** Locks the rows of a SELECT until the end of the transaction. */
export const LOCK = perEngine({ sqlite: "", postgres: "FOR UPDATE" });

const TEXTS = perEngine({ sqlite: "SELECT value FROM json_each(", postgres: "SELECT json_array_elements_text(" });
const TEXTS_END = perEngine({ sqlite: ")", postgres: "::text::json)" });

/**
 * A SELECT of these texts, for `IN (…)`: the list is one parameter, so that the statement's text does not depend on its length.
 * Postgres refuses a lone surrogate, so they are made well formed.
 */
export function textsIn(texts: readonly string[]): Statement {
  return sql`${TEXTS}${JSON.stringify(texts.map((text) => text.toWellFormed()))}${TEXTS_END}`;
}
