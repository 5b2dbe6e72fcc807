/** The index of the search: every guide, every heading of them, every operation. */
import type { Guide } from "./guides.ts";
import type { ApiDocument, Operation } from "./openapi.ts";
import { referenceAddress, type ReferencePage, titleOf } from "./reference-pages.ts";
import { fieldNames } from "./schema-view.ts";

/** One result. */
interface SearchEntry {
  /** The address, with its fragment. */
  to: string;
  title: string;
  /** The page that it is part of, or the path of an operation. */
  of: string;
  /** Of an operation, in capitals. */
  method?: string;
  /** Further words. */
  text?: string;
}

export function guideEntries({ name, title, headings, words }: Guide, about: string): SearchEntry[] {
  const address = `/docs/${name}`;
  return [
    { to: address, title, of: "Guide", text: `${title} ${about} ${words}` },
    ...headings.map(({ text, slug, words: own }) => ({ to: `${address}#${slug}`, title: text, of: title, text: own })),
  ];
}

export function referenceEntries(page: ReferencePage, document: ApiDocument): SearchEntry[] {
  const address = referenceAddress(page);
  const part = page.isAdministration ? "API of administration" : "API";
  const whole = { to: address, title: page.title, of: part, text: page.about };
  const operations = page.operations.map((operation) => ({
    to: `${address}#${operation.operationId}`,
    title: titleOf(operation),
    of: operation.path,
    method: operation.method.toUpperCase(),
    text: wordsOf(operation, page, document),
  }));
  return [whole, ...operations];
}

function wordsOf(operation: Operation, page: ReferencePage, document: ApiDocument): string {
  const { operationId, summary, description = "", parameters = [], requestBody } = operation;
  const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
    schema === undefined ? [] : fieldNames(schema, document),
  );
  const names = new Set([...parameters.map(({ name }) => name), ...fields]);
  return [operationId, page.title, summary, description, ...names].join(" ");
}
