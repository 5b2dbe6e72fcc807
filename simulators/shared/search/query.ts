/** A condition on an address or a title. */
type Operator = "site" | "filetype" | "intitle" | "inurl";

/** One part of a query. */
export type Term =
  | { readonly kind: "word" | "phrase"; readonly text: string; readonly negated: boolean }
  | { readonly kind: Operator; readonly text: string; readonly negated: boolean };

/** The parts of a query that a search engine may interpret; it searches for the others as words. */
export interface Understanding {
  readonly phrases: boolean;
  readonly negation: boolean;
  readonly operators: readonly Operator[];
}

/** An engine that interprets everything. */
export const understandsAll: Understanding = {
  phrases: true,
  negation: true,
  operators: ["site", "filetype", "intitle", "inurl"],
};

const aliases: { readonly [name: string]: Operator } = { ext: "filetype", allintitle: "intitle", allinurl: "inurl" };
/** A sign, an operator with its colon, and a quoted text or a word. Parentheses and OR are skipped. */
const part = /(-?)(?:([a-z]+):)?(?:"([^"]*)"|([^\s"()]+))/gi;

/** Takes a query apart. Directives to the simulator itself (`fault:`, `engines:`) are left out. */
export function parseQuery(query: string, understanding: Understanding): Term[] {
  return [...query.matchAll(part)].flatMap(([whole, sign = "", prefix, quoted, word = ""]): Term[] => {
    if (/^(fault|engines):/.test(whole) || whole === "OR" || whole === "AND") return [];
    const negated = sign === "-";
    if (negated && !understanding.negation) return [plain(quoted ?? word)];
    const operator = operatorOf(prefix, understanding);
    if (operator !== undefined) return [{ kind: operator, text: (quoted ?? word).toLowerCase(), negated }];
    // A word with a colon that is no operator.
    if (prefix !== undefined) return [{ ...plain(`${prefix} ${quoted ?? word}`), negated }];
    if (quoted !== undefined && understanding.phrases) return [{ kind: "phrase", text: quoted.toLowerCase(), negated }];
    return (quoted ?? word).split(/\s+/).map((text) => ({ ...plain(text), negated }));
  });
}

function plain(text: string): Term {
  return { kind: "word", text: text.toLowerCase(), negated: false };
}

function operatorOf(prefix: string | undefined, { operators }: Understanding): Operator | undefined {
  const name = prefix?.toLowerCase() ?? "";
  const operator =
    operators.find((known) => known === name) ?? (Object.hasOwn(aliases, name) ? aliases[name] : undefined);
  return operator !== undefined && operators.includes(operator) ? operator : undefined;
}
