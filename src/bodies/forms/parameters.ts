/** A header's value with its parameters: `form-data; name="file"`. */
export interface ParameterizedValue {
  /** What stands before the first semicolon, in lower case. */
  readonly value: string;
  /** By their names in lower case. A quoted value is as it was written between its quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

const NAME = "[!#$%&*+.^_`|~0-9A-Za-z-]+";
// More than a token: slashes and the like should stand in quotes, but nobody reads them in another way where they
// don't. An apostrophe in front begins a quoted value to some readers.
const PLAIN = "[!#$%&*+./:=?@^_`{|}~0-9A-Za-z[\\]-]['!#$%&*+./:=?@^_`{|}~0-9A-Za-z[\\]-]*";
const QUOTED = '"(?<quoted>(?:[^"\\\\]|\\\\.)*)"';
const parameter = new RegExp(`[ \\t]*;[ \\t]*(?<name>${NAME})=(?:${QUOTED}|(?<plain>${PLAIN}))`, "y");
// To a reader without escapes the value ends at such a quote, and a parameter follows.
const ambiguousQuote = /\\"[ \t]*;/;

/** Undefined where it is not well-formed, names a parameter twice, or could be read in two ways. */
export function parseParameters(text: string): ParameterizedValue | undefined {
  const end = text.indexOf(";");
  if (end < 0) return { value: text.toLowerCase(), parameters: new Map() };
  if (ambiguousQuote.test(text)) return undefined;
  const value = trimBlanks(text.slice(0, end)).toLowerCase();
  const parameters = new Map<string, string>();
  parameter.lastIndex = end;
  while (parameter.lastIndex < text.length) {
    const { name = "", quoted, plain = "" } = parameter.exec(text)?.groups ?? {};
    const key = name.toLowerCase();
    if (key === "" || parameters.has(key)) return undefined;
    parameters.set(key, quoted ?? plain);
  }
  return { value, parameters };
}

const isBlank = (character: string | undefined): boolean => character === " " || character === "\t";

/** Without spaces and tabs at either end. (An expression would take quadratic time on those within.) */
export function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text[from])) from += 1;
  while (to > from && isBlank(text[to - 1])) to -= 1;
  return text.slice(from, to);
}
