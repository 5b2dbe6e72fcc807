import type { Element } from "domhandler";

/** Kinds of elements whose meaning passes on to everything in them, as bits. */
export const landmarks = {
  nav: 1 << 0,
  header: 1 << 1,
  footer: 1 << 2,
  aside: 1 << 3,
  main: 1 << 4,
  article: 1 << 5,
  form: 1 << 6,
  table: 1 << 7,
  list: 1 << 8,
  dialog: 1 << 9,
  button: 1 << 10,
  figure: 1 << 11,
  quote: 1 << 12,
  section: 1 << 13,
  pre: 1 << 14,
  definition: 1 << 15,
  field: 1 << 16,
  details: 1 << 17,
  noscript: 1 << 18,
} as const;

const ofTag = new Map<string, number>([
  ["nav", landmarks.nav],
  ["header", landmarks.header],
  ["footer", landmarks.footer],
  ["aside", landmarks.aside],
  ["main", landmarks.main],
  ["article", landmarks.article],
  ["form", landmarks.form],
  ["table", landmarks.table],
  ["ul", landmarks.list],
  ["ol", landmarks.list],
  ["dialog", landmarks.dialog],
  ["button", landmarks.button],
  ["figure", landmarks.figure],
  ["blockquote", landmarks.quote],
  ["section", landmarks.section],
  ["pre", landmarks.pre],
  ["dl", landmarks.definition],
  ["select", landmarks.field],
  ["textarea", landmarks.field],
  ["details", landmarks.details],
  ["noscript", landmarks.noscript],
]);

const ofRole = new Map<string, number>([
  ["navigation", landmarks.nav],
  ["menu", landmarks.nav],
  ["menubar", landmarks.nav],
  ["banner", landmarks.header],
  ["contentinfo", landmarks.footer],
  ["complementary", landmarks.aside],
  ["main", landmarks.main],
  ["article", landmarks.article],
  ["search", landmarks.form],
  ["dialog", landmarks.dialog],
  ["alertdialog", landmarks.dialog],
  ["button", landmarks.button],
]);

export function landmarksOf(element: Element): number {
  return (ofTag.get(element.name) ?? 0) | (ofRole.get(element.attribs["role"] ?? "") ?? 0);
}

/** Whether an element is hidden by its own attributes. Style sheets are not read. */
export function isHidden({ attribs }: Element): boolean {
  if (attribs["hidden"] !== undefined || attribs["aria-hidden"] === "true") return true;
  const style = attribs["style"];
  return style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style);
}
