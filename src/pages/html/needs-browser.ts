import { type Document, type Element, isText } from "domhandler";
import { elementsOf } from "./walk.ts";

/** Characters of text below which a page with scripts is empty without them. */
const emptyCharactersMax = 200;

/** The same where the page says that it needs scripts, or has the root of an application with nothing in it. */
const nearlyEmptyCharactersMax = 600;

/** Where frameworks put what they draw. */
const applicationRoots =
  /^(root|app|__next|__nuxt|___gatsby|react-root|app-root|svelte|main-app|application|ember-app|vue-app)$/i;

/** Elements whose text is no content of the page. */
const unread = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "title",
  "option",
  "nav",
  "footer",
  "header",
]);

/** Whether scripts make the content of a page, so that it is empty, or nearly, where they don't run. */
export function needsBrowser(document: Document): boolean {
  let characters = 0;
  let scripts = 0;
  let asksForScripts = false;
  let emptyRoot = false;
  let redirects = false;
  for (const element of elementsOf(document, ({ name }) => !unread.has(name))) {
    if (element.name === "script" && isProgram(element)) scripts += 1;
    else if (element.name === "noscript") asksForScripts ||= asks(element);
    else if (element.name === "meta") redirects ||= (element.attribs["http-equiv"] ?? "").toLowerCase() === "refresh";
    else if (!unread.has(element.name)) {
      characters += ownText(element);
      emptyRoot ||= isEmptyRoot(element);
    }
    if (characters > nearlyEmptyCharactersMax) return false;
  }
  if (scripts === 0 || redirects) return false;
  return characters < emptyCharactersMax || asksForScripts || emptyRoot;
}

/** Data in a script element is no program. */
function isProgram({ attribs }: Element): boolean {
  const { type } = attribs;
  return type === undefined || type === "" || type === "module" || /javascript|ecmascript/i.test(type);
}

function asks({ children }: Element): boolean {
  return children.some(
    (child) =>
      isText(child) && /javascript/i.test(child.data) && /enable|require|need|activ|turn|work/i.test(child.data),
  );
}

function ownText({ children }: Element): number {
  return children.reduce((sum, child) => sum + (isText(child) ? child.data.trim().length : 0), 0);
}

function isEmptyRoot({ name, attribs, children }: Element): boolean {
  if (!applicationRoots.test(attribs["id"] ?? "") && name !== "app-root") return false;
  return children.every((child) => isText(child) && child.data.trim() === "");
}
