import { type Document, type Element, isText } from "domhandler";
import { elementsOf } from "./walk.ts";

/** Characters of text below which a page with scripts is empty without them. */
const emptyCharactersMax = 100;

/** The same for a page that demands scripts: a message about them is not the content. */
const askingCharactersMax = 250;

/** The same if the root of an application has nothing in it. */
const nearlyEmptyCharactersMax = 600;

/** The elements in which frameworks draw. */
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

/** Whether the page has next to no content until a browser has run its scripts. */
export function needsBrowser(document: Document): boolean {
  let characters = 0;
  let scripts = 0;
  let asksForScripts = false;
  let emptyRoot = false;
  let redirects = false;
  for (const element of elementsOf(document, ({ name }) => !unread.has(name))) {
    if (element.name === "script" && isProgram(element)) scripts += 1;
    else if (element.name === "noscript") {
      asksForScripts ||= asks(element);
      characters += substituteText(element);
    } else if (element.name === "meta") redirects ||= (element.attribs["http-equiv"] ?? "").toLowerCase() === "refresh";
    else if (!unread.has(element.name)) {
      characters += ownText(element);
      emptyRoot ||= isEmptyRoot(element);
    }
    if (characters > nearlyEmptyCharactersMax) return false;
  }
  if (scripts === 0 || redirects) return false;
  return emptyRoot || characters < (asksForScripts ? askingCharactersMax : emptyCharactersMax);
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

/** Shown without scripts, instead: forums have all of their posts there. To the parser it is one text. */
function substituteText({ children }: Element): number {
  const [content] = children;
  if (content === undefined || !isText(content) || content.data.length < nearlyEmptyCharactersMax) return 0;
  return content.data.slice(0, substituteCharactersMax).replaceAll(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>|\s+/gi, "")
    .length;
}

/** Characters of it that are looked at. */
const substituteCharactersMax = 20_000;

function ownText({ children }: Element): number {
  return children.reduce((sum, child) => sum + (isText(child) ? child.data.trim().length : 0), 0);
}

function isEmptyRoot({ name, attribs, children }: Element): boolean {
  if (!applicationRoots.test(attribs["id"] ?? "") && name !== "app-root") return false;
  return children.every((child) => isText(child) && child.data.trim() === "");
}
