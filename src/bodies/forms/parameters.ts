/** A header's value with its parameters: `form-data; name="file"`. */
export interface ParameterizedValue {
  /** The text before the first semicolon, in lower case. */
  readonly value: string;
  /** By name in lower case. A quoted value is the raw text between its quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

const NAME = "[!#$%&*+.^_`|~0-9A-Za-z-]+";
// More than a token: slashes and the like should be quoted, but no reader understands them differently without quotes.
// A leading apostrophe begins a quoted value for some readers.
const PLAIN = "[!#$%&*+./:=?@^_`{|}~0-9A-Za-z[\\]-]['!#$%&*+./:=?@^_`{|}~0-9A-Za-z[\\]-]*";
const QUOTED = '"(?<quoted>(?:[^"\\\\]|\\\\.)*)"';
const parameter = new RegExp(`[ \\t]*;[ \\t]*(?<name>${NAME})=(?:${QUOTED}|(?<plain>${PLAIN}))`, "y");
// For a reader without escapes the value ends at such a quote, and a parameter follows.
const ambiguousQuote = /\\"[ \t]*;/;

/** Undefined if it is malformed, repeats a parameter, or could be understood in two ways. */
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

/** Without spaces and tabs at either end. (A regular expression would take quadratic time on inner ones.) */
export function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text[from])) from += 1;
  while (to > from && isBlank(text[to - 1])) to -= 1;
  return text.slice(from, to);
}
