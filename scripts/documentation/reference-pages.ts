/** The pages of the reference: one for each tag of the document; the routes of administration by resource. */
import type { Operation } from "./openapi.ts";

export interface ReferencePage {
  /** The last part of its address. */
  name: string;
  title: string;
  /** One sentence. */
  about: string;
  /** The guides to read with it, by their names. */
  guides: readonly string[];
  isAdministration: boolean;
  operations: readonly Operation[];
}

interface PageText {
  about: string;
  guides: readonly string[];
}

/** The pages of tags, in their order. A tag that is not listed comes behind them. */
const tags: Readonly<Record<string, PageText>> = {
  Chat: {
    about: "Text from any model of any provider, in the shape of Chat Completions, Messages or Gemini.",
    guides: ["clients", "dialects", "routing"],
  },
  Responses: {
    about: "Text in the shape of OpenAI's Responses, with stored responses, background runs and conversations.",
    guides: ["dialects", "clients"],
  },
  Embeddings: { about: "Vectors of texts, and documents ranked by a query.", guides: ["media"] },
  Images: { about: "Pictures from a prompt, and changes to pictures.", guides: ["media"] },
  Audio: { about: "Speech from text, and text from speech.", guides: ["media"] },
  Video: { about: "Video jobs: create, poll, download.", guides: ["videos", "webhooks"] },
  Realtime: { about: "Conversations by voice and text over a WebSocket.", guides: ["realtime"] },
  Moderations: { about: "Whether texts or images are harmful.", guides: ["media"] },
  Files: { about: "Files that later calls use, kept at a provider, and the files of batches.", guides: ["files"] },
  Batches: {
    about: "Many calls in one request, which are made in the background.",
    guides: ["batches", "files", "webhooks"],
  },
  Search: { about: "The web in Firecrawl's shape: search, scrape, map, crawl.", guides: ["web", "browser"] },
  Tools: { about: "The gateway's own tools for agents, over HTTP and MCP.", guides: ["tools"] },
  Models: { about: "The models that a token may call.", guides: ["clients", "prices"] },
  Account: { about: "The caller's own balance, calls and spending.", guides: ["usage", "money"] },
  Platform: { about: "The gateway's health, and this description of it.", guides: ["production"] },
};

/** The pages of `/admin/v1`, each with the first parts of its paths. Any other path is on the last one. */
const administration: readonly (PageText & { title: string; paths: readonly string[] })[] = [
  {
    title: "Organisations",
    paths: ["organisations"],
    about: "Who pays: each has a balance, limits, users and projects.",
    guides: ["administration", "production"],
  },
  {
    title: "Users",
    paths: ["users", "people"],
    about: "People, with their roles and budgets; one at a time or many from a list.",
    guides: ["administration"],
  },
  {
    title: "Projects",
    paths: ["projects"],
    about: "Work that several users share, with a budget of its own.",
    guides: ["administration"],
  },
  {
    title: "Tokens",
    paths: ["tokens"],
    about: "The secrets that calls are made with: issue, limit, pause, rotate, revoke.",
    guides: ["administration", "security"],
  },
  {
    title: "Sessions",
    paths: ["session", "sessions", "sign_in"],
    about: "Signing in with a browser, and the sessions that are open.",
    guides: ["administration", "security"],
  },
  {
    title: "Budgets",
    paths: ["budgets", "model_groups"],
    about: "Limits of spending by period and group of models.",
    guides: ["money", "administration"],
  },
  {
    title: "Credits",
    paths: ["credits", "entries", "holds"],
    about: "Credits that are granted, and the books: their entries and open holds.",
    guides: ["money", "administration"],
  },
  {
    title: "Spending",
    paths: ["usage", "generations"],
    about: "The calls of all users, and their sums.",
    guides: ["usage", "administration"],
  },
  {
    title: "Audit",
    paths: ["audit"],
    about: "The log of every change, and the proof that nobody has changed the log.",
    guides: ["administration", "security"],
  },
  {
    title: "Gateway",
    paths: [],
    about: "Providers, routes, prices, jobs, alerts, nodes and the configuration in force.",
    guides: ["administration", "routing", "production"],
  },
];

const ADMINISTRATION = "/admin/v1/";

/** All pages, each operation on one of them. */
export function referencePages(operations: readonly Operation[]): ReferencePage[] {
  const own = operations.filter(({ path }) => !path.startsWith(ADMINISTRATION));
  const names = new Set([...Object.keys(tags), ...own.map(({ tags: [tag] }) => tag)]);
  const ofTags = [...names].map((title) => ({
    name: title.toLowerCase(),
    title,
    ...(tags[title] ?? { about: "", guides: [] }),
    isAdministration: false,
    operations: own.filter(({ tags: [tag] }) => tag === title),
  }));
  const ofAdministration = administration.map(({ title, about, guides }) => ({
    name: `admin-${title.toLowerCase()}`,
    title,
    about,
    guides,
    isAdministration: true,
    operations: operations.filter(({ path }) => path.startsWith(ADMINISTRATION) && administrationTitle(path) === title),
  }));
  return [...ofTags, ...ofAdministration].filter((page) => page.operations.length > 0);
}

function administrationTitle(path: string): string | undefined {
  const [first = ""] = path.slice(ADMINISTRATION.length).split("/");
  return (administration.find(({ paths }) => paths.includes(first)) ?? administration.at(-1))?.title;
}

export function referenceAddress({ name }: Pick<ReferencePage, "name">): string {
  return `/docs/api/${name}`;
}

/** The name of an operation in words: `Create chat completion` for `createChatCompletion`. */
export function titleOf({ operationId }: Pick<Operation, "operationId">): string {
  const words = operationId.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace("open api", "OpenAPI document");
}
