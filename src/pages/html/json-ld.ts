import { type Element, isText } from "domhandler";

/** Characters of one block of JSON-LD, and objects that are looked at. */
const blockCharactersMax = 512 * 1024;
const objectsMax = 2_000;

export interface LinkedFacts {
  author?: string | undefined;
  publishedTime?: string | undefined;
  modifiedTime?: string | undefined;
  title?: string | undefined;
  description?: string | undefined;
}

/** Whether a script element holds JSON-LD. */
export function isLinkedData({ attribs }: Element): boolean {
  return /^application\/ld\+json/i.test(attribs["type"] ?? "");
}

/** Facts that a page states about its main entity as JSON-LD, for facts that its meta tags omit. */
export function linkedFacts(scripts: readonly Element[]): LinkedFacts {
  const facts: LinkedFacts = {};
  for (const object of linkedObjects(scripts)) addFacts(facts, object);
  return facts;
}

/** The objects of JSON-LD that describe a page or its subject, of a bounded number. */
export function* linkedObjects(scripts: readonly Element[]): Generator<Json> {
  let left = objectsMax;
  for (const { children } of scripts) {
    const [content] = children;
    if (content === undefined || !isText(content) || content.data.length > blockCharactersMax) continue;
    for (const object of objectsOf(content.data)) {
      left -= 1;
      if (left < 0) return;
      if (describesPage(object)) yield object;
    }
  }
}

export type Json = Readonly<Record<string, unknown>>;

function* objectsOf(text: string): Generator<Json> {
  const waiting: unknown[] = [parseJson(text)];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value.slice(0, objectsMax).filter(isObject).toReversed());
    else if (isObject(value)) {
      yield value;
      waiting.push(...[value["mainEntity"], value["@graph"]].filter((member) => member !== undefined));
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\s*(?:<!--|\/\/<!\[CDATA\[)|(?:-->|\/\/\]\]>)\s*$/g, ""));
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function describesPage(object: Json): boolean {
  const types = [object["@type"]].flat();
  return types.some(
    (type) =>
      typeof type === "string" &&
      /Article|Posting|Page$|Recipe|Product|Course|Event|Report|Book|Review|Question/.test(type),
  );
}

function addFacts(facts: LinkedFacts, object: Json): void {
  facts.author ??= namesOf(object["author"]);
  facts.publishedTime ??= textOf(object["datePublished"]);
  facts.modifiedTime ??= textOf(object["dateModified"]);
  facts.title ??= textOf(object["headline"]) ?? textOf(object["name"]);
  facts.description ??= textOf(object["description"]);
}

function namesOf(author: unknown): string | undefined {
  const names = [author].flat().flatMap((one) => textOf(one) ?? (isObject(one) ? (textOf(one["name"]) ?? []) : []));
  return names.length === 0 ? undefined : names.slice(0, 20).join(", ");
}

/** The text of a value, if it is one. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
