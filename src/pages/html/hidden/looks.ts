/** Declarations of CSS by the name of their property, in lower case. */
export type Declared = Readonly<Record<string, string>>;

/**
 * The way in which a style hides an element. `folded`: the element is a collapsed part, which a control of the page opens.
 * `away`: no control shows the element. A child is visible nevertheless if it declares the property `unless` with another value.
 */
export interface Hiding {
  readonly way: "folded" | "away";
  readonly unless?: "visibility" | "font-size";
}

/** The properties that can hide text. */
const properties = new Set(
  (
    "display visibility position left top right bottom margin-left margin-top text-indent clip clip-path font-size width height " +
    "max-width max-height overflow overflow-x overflow-y padding padding-top padding-bottom"
  ).split(" "),
);

/** Declarations of one kind, apart from those that are `!important` and win over all others. */
export interface Declarations {
  readonly normal: Declared;
  readonly important: Declared;
}

/** The declarations that can hide text; undefined if there are none. */
export function readDeclarations(css: string): Declarations | undefined {
  const normal: Record<string, string> = {};
  const important: Record<string, string> = {};
  let found = false;
  for (const declaration of css.split(";")) {
    const colon = declaration.indexOf(":");
    const name = declaration.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (!properties.has(name)) continue;
    const value = declaration
      .slice(colon + 1)
      .trim()
      .toLowerCase();
    const plain = value.replace(/\s*!\s*important$/, "");
    (plain === value ? normal : important)[name] = plain;
    found = true;
  }
  return found ? { normal, important } : undefined;
}

/** How an element of this style is hidden, or undefined if it is seen. */
export function hidingOf(style: Declared): Hiding | undefined {
  if (style["display"] === "none") return { way: "folded" };
  if (/^(hidden|collapse)$/.test(style["visibility"] ?? "")) return { way: "folded", unless: "visibility" };
  if (isOutside(style) || isClipped(style)) return { way: "away" };
  if (isZero(style["font-size"])) return { way: "away", unless: "font-size" };
  return flatness(style);
}

/** Whether a declaration undoes what an outer one did. */
export function undoes(style: Declared, property: "visibility" | "font-size"): boolean {
  const value = style[property];
  return value !== undefined && (property === "visibility" ? value === "visible" : !isZero(value));
}

/** Pixels beyond the edge of a page from which on nothing is meant to slide into it. */
const outsidePixelsMin = 900;
const pixelsOf: Readonly<Record<string, number>> = { px: 1, em: 16, rem: 16, pt: 4 / 3, vw: 12.8, vh: 8 };

function isOutside(style: Declared): boolean {
  if (["text-indent", "margin-left", "margin-top"].some((side) => isFarOutside(style[side]))) return true;
  if (!isPlaced(style)) return false;
  return ["left", "top", "right", "bottom"].some((side) => isFarOutside(style[side]));
}

function isPlaced(style: Declared): boolean {
  return style["position"] === "absolute" || style["position"] === "fixed";
}

function isFarOutside(value: string | undefined): boolean {
  const [, amount, unit = ""] = /^-(\d+(?:\.\d+)?)([a-z]+)$/.exec(value ?? "") ?? [];
  return amount !== undefined && Number(amount) * (pixelsOf[unit] ?? 0) >= outsidePixelsMin;
}

/** How texts for readers of screens are kept from everybody else. */
function isClipped(style: Declared): boolean {
  if (!isPlaced(style)) return false;
  if (/^rect\((\s*[01](px|em)?[\s,]*){4}\)$/.test(style["clip"] ?? "")) return true;
  return /^inset\(\s*(50|100)%/.test(style["clip-path"] ?? "");
}

function isZero(value: string | undefined): boolean {
  return value !== undefined && /^0(\.0+)?([a-z]+|%)?$/.test(value);
}

/** Boxes without an extent. One with a padding keeps the proportions of what lies on it. */
function flatness(style: Declared): Hiding | undefined {
  const hides = ["overflow", "overflow-x", "overflow-y"].some((one) => /hidden|clip/.test(style[one] ?? ""));
  if (!hides || ["padding", "padding-top", "padding-bottom"].some((one) => !isZero(style[one] ?? "0")))
    return undefined;
  const { width, height } = style;
  if (isZero(height) || isZero(style["max-height"])) return { way: isZero(width) ? "away" : "folded" };
  const isPoint = width === "1px" && height === "1px";
  return isPoint || isZero(width) || isZero(style["max-width"]) ? { way: "away" } : undefined;
}
