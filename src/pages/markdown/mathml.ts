import { type ChildNode, type Element, isTag, isText } from "domhandler";
import { textContent } from "domutils";

/** Names of functions, which TeX sets upright. */
const functions = new Set(
  "arccos arcsin arctan cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim ln log max min mod Pr sec sin sinh sup tan tanh".split(
    " ",
  ),
);

/** Operators whose bounds stand above and below them. */
const withBounds = /^(?:[∑∏∐∫∬∭∮⋃⋂⋁⋀⨁⨂]|\\(?:lim|max|min|sup|inf|det|gcd|Pr))$/;

const overAccents: Readonly<Record<string, string>> = {
  "^": "hat",
  ˆ: "hat",
  "~": "tilde",
  "˜": "tilde",
  "¯": "overline",
  "‾": "overline",
  "―": "overline",
  "→": "vec",
  "⃗": "vec",
  "˙": "dot",
  "¨": "ddot",
  "⏞": "overbrace",
};

const underAccents: Readonly<Record<string, string>> = {
  "\\_": "underline",
  "¯": "underline",
  "⏟": "underbrace",
};

/** A formula in MathML as TeX, for those that come without their source. Signs beyond ASCII stay as they are. */
export function texOf({ name, attribs, children }: Element): string {
  const parts = children.filter(isTag);
  const part = (index: number): string => (parts[index] === undefined ? "" : texOf(parts[index]));
  switch (name) {
    case "mi":
      return identifier(tokenText(children));
    case "mn":
    case "mo":
      return escapeSigns(tokenText(children));
    case "mtext":
    case "ms": {
      const text = escapeSigns(tokenText(children));
      return text === "" ? " " : `\\text{${text}}`;
    }
    case "mfrac":
      return /^0(?:\D|$)/.test(attribs["linethickness"] ?? "")
        ? `{${part(0)} \\atop ${part(1)}}`
        : `\\frac{${part(0)}}{${part(1)}}`;
    case "msqrt":
      return `\\sqrt{${joined(children)}}`;
    case "mroot":
      return `\\sqrt[${part(1)}]{${part(0)}}`;
    case "msup":
      return base(part(0)) + script("^", part(1));
    case "msub":
      return base(part(0)) + script("_", part(1));
    case "msubsup":
    case "mmultiscripts":
      return base(part(0)) + script("_", part(1)) + script("^", part(2));
    case "munder":
      return below(part(0), part(1));
    case "mover":
      return above(part(0), part(1));
    case "munderover":
      return around(part(0), part(1), part(2));
    case "mtable":
      return `\\begin{matrix} ${parts.map(row).join(" \\\\ ")} \\end{matrix}`;
    case "mfenced":
      return fenced(attribs, parts);
    case "semantics":
    case "maction":
      return part(0);
    case "mspace":
      return " ";
    case "annotation":
    case "annotation-xml":
    case "mphantom":
      return "";
    default:
      return joined(children);
  }
}

/** A command and a letter behind it need a space between. */
function joined(nodes: readonly ChildNode[]): string {
  let tex = "";
  for (const node of nodes) {
    const next = isTag(node) ? texOf(node) : isText(node) ? escapeSigns(node.data.trim()) : "";
    tex += /\\[a-zA-Z]+$/.test(tex.slice(-commandCharactersMax)) && /^[a-zA-Z]/.test(next) ? ` ${next}` : next;
  }
  return tex;
}

const commandCharactersMax = 20;

function tokenText(nodes: ChildNode[]): string {
  return textContent(nodes).replaceAll(/\s+/g, " ").trim();
}

function identifier(text: string): string {
  if (functions.has(text)) return `\\${text}`;
  return /^\p{L}{2,}$/u.test(text) ? `\\mathrm{${text}}` : escapeSigns(text);
}

/** Signs that mean something to TeX; operators that nobody sees. */
function escapeSigns(text: string): string {
  return text
    .replaceAll(/[\u2061-\u2064\u200b]/g, "")
    .replaceAll("−", "-")
    .replaceAll("\\", "\\backslash ")
    .replaceAll(/[{}%#&$_]/g, "\\$&");
}

function base(tex: string): string {
  return tex === "" || /[\^_]/.test(tex) ? `{${tex}}` : tex;
}

function script(sign: "^" | "_", tex: string): string {
  // A prime is a raised sign by itself.
  if (sign === "^" && /^[′″‴']+$/.test(tex))
    return tex.replaceAll("′", "'").replaceAll("″", "''").replaceAll("‴", "'''");
  if (tex === "") return "";
  return tex.length === 1 ? sign + tex : `${sign}{${tex}}`;
}

function above(tex: string, sign: string): string {
  if (withBounds.test(tex)) return tex + script("^", sign);
  const accent = overAccents[sign];
  return accent === undefined ? `\\overset{${sign}}{${tex}}` : `\\${accent}{${tex}}`;
}

function below(tex: string, sign: string): string {
  if (withBounds.test(tex)) return tex + script("_", sign);
  const accent = underAccents[sign];
  return accent === undefined ? `\\underset{${sign}}{${tex}}` : `\\${accent}{${tex}}`;
}

function around(tex: string, under: string, over: string): string {
  return withBounds.test(tex) ? tex + script("_", under) + script("^", over) : above(below(tex, under), over);
}

function row({ children }: Element): string {
  const cells = children.filter(isTag).filter(({ name }) => name === "mtd");
  return cells.map((cell) => joined(cell.children)).join(" & ");
}

function fenced(
  { open = "(", close = ")", separators = "," }: Readonly<Record<string, string>>,
  parts: Element[],
): string {
  const signs = separators.match(/\S/gu) ?? [];
  const inner = parts.map((part, index) => (index === 0 ? "" : (signs[index - 1] ?? signs.at(-1) ?? "")) + texOf(part));
  return escapeSigns(open) + inner.join("") + escapeSigns(close);
}
