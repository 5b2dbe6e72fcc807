/** The two pages that lead to all others: `/docs`, and `/docs/api` with everything that holds for every route. */
import type { GuideGroup } from "./guides.ts";
import { codeBlock } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import type { ApiDocument } from "./openapi.ts";
import { routeList } from "./operation-view.ts";
import type { Page } from "./page-frame.ts";
import { referenceAddress, type ReferencePage } from "./reference-pages.ts";
import { inlineCode } from "./schema-view.ts";

const ABOUT =
  "One HTTP gateway in front of every AI provider: chat, Messages, Responses, embeddings, images, video, audio, realtime and the web, with one token, paid from one prepaid balance.";

const firstCall = `curl "$TOLLGATE_URL/v1/chat/completions" \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "openai/gpt-5-mini", "messages": [{"role": "user", "content": "Hello!"}]}'`;

function cardOf(to: string, title: string, about: string): string {
  return `<li><a href="${to}"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(about)}</span></a></li>`;
}

const cards = (items: readonly string[]): string => `<ul class="cards">${items.join("\n")}</ul>`;

/** A text of the table of contents, which begins in lower case, as a sentence of its own. */
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const pageCards = (pages: readonly ReferencePage[]): string =>
  cards(pages.map((page) => cardOf(referenceAddress(page), page.title, page.about)));

export function contentsPage(guides: readonly GuideGroup[], pages: readonly ReferencePage[]): Page {
  const groups = guides.map(({ title, guides: entries }) => {
    const items = entries.map(({ name, title: text, about }) => cardOf(`/docs/${name}`, text, capital(about)));
    return `<h2>${escapeHtml(title)}</h2>\n${cards(items)}`;
  });
  const main = `<h1>Tollgate</h1>
<p class="lead">${ABOUT}</p>
<ul class="cards first">
${cardOf("/docs/clients", "Point your client at it", "OpenAI's, Anthropic's, Google's and Firecrawl's SDKs, Claude Code, Codex, curl.")}
${cardOf("/docs/api", "Read the API reference", "Every route with its fields, and with samples in curl, Python and TypeScript.")}
${cardOf("/docs/production", "Run it in production", "Tokens, organisations, budgets, limits and the command line.")}
</ul>
<h2>The first call</h2>
${codeBlock(firstCall, "sh")}
${groups.join("\n")}
<h2>API reference</h2>
${pageCards(pages.filter(({ isAdministration }) => !isAdministration))}
<h2>Administration</h2>
${pageCards(pages.filter(({ isAdministration }) => isAdministration))}`;
  return {
    address: "/docs",
    title: "Documentation",
    description: "Guides and the whole API of this gateway.",
    main,
    parts: [],
  };
}

const AUTHENTICATION = `curl "$TOLLGATE_URL/v1/models" -H "Authorization: Bearer $TOLLGATE_TOKEN"`;

const ERROR = {
  error: {
    message: "The balance does not cover the call.",
    type: "insufficient_credits",
    code: "insufficient_credits",
    param: null,
  },
};

function headingOf(slug: string, text: string): string {
  return `<h2 id="${slug}">${text} <a class="anchor" href="#${slug}" aria-label="Link to this heading">#</a></h2>`;
}

export function referenceContentsPage(pages: readonly ReferencePage[], { components }: ApiDocument): Page {
  const headers = Object.entries(components.headers ?? {}).map(([key, { description = "" }]) => {
    const name = key === "RequestId" ? "x-request-id" : key;
    return `<dt id="header-${name}"><a href="#header-${name}"><code>${name}</code></a></dt><dd><p>${inlineCode(description)}</p></dd>`;
  });
  const lists = pages.map(
    (page) =>
      `<h3><a href="${referenceAddress(page)}">${page.isAdministration ? "Administration: " : ""}${escapeHtml(page.title)}</a></h3>\n${routeList(page)}`,
  );
  const main = `<h1>API reference</h1>
<p class="lead">All routes of this gateway, made from its <a href="/openapi.json">OpenAPI document</a>.</p>
${headingOf("authentication", "Authentication")}
<p>Every call has a token, as <code>Authorization: Bearer tg_…</code>. <code>x-api-key</code>, <code>api-key</code> and <code>x-goog-api-key</code> are read too, so that the SDKs of Anthropic, Azure and Google work with their own settings (<a href="/docs/clients">Clients</a>). The routes of administration need a token with a role (<a href="/docs/administration">Administration</a>).</p>
${codeBlock(AUTHENTICATION, "sh")}
${headingOf("models", "Models")}
<p>Ids of models have the provider's prefix, as in <code>anthropic/claude-haiku-4-5</code>. Any model that generates text answers in each of the four shapes: Chat Completions, Messages, Responses and Gemini (<a href="/docs/dialects">Dialects</a>).</p>
${headingOf("errors", "Errors")}
<p>A refusal has the shape of the route's own API, a stable <code>code</code>, and an <code>x-request-id</code>. Each code, and the reaction of a client: <a href="/docs/errors">Errors</a>.</p>
${codeBlock(JSON.stringify(ERROR, null, 2), "json")}
${headingOf("retries", "Retries")}
<p>A call with an <code>idempotency-key</code> can be repeated without being paid twice (<a href="/docs/retry-keys">Retry keys</a>).</p>
${headingOf("headers", "Headers of answers")}
<dl class="fields">${headers.join("\n")}</dl>
${headingOf("routes", "All routes")}
${lists.join("\n")}`;
  const parts = ["Authentication", "Models", "Errors", "Retries", "Headers of answers", "All routes"];
  const slugs = ["authentication", "models", "errors", "retries", "headers", "routes"];
  return {
    address: "/docs/api",
    title: "API reference",
    description: "All routes of this gateway, with authentication, errors and headers.",
    main,
    parts: parts.map((text, index) => ({ text, slug: slugs[index] ?? "", depth: 2 })),
  };
}

/** The former page of all routes of administration: its links lead on. */
export function administrationPage(pages: readonly ReferencePage[]): Page {
  const own = pages.filter(({ isAdministration }) => isAdministration);
  const lists = own.map((page) => {
    const rows = routeList(page).replaceAll(/<li>(.*?)#(\w+)"/g, '<li id="$2">$1#$2"');
    return `<h2 id="${page.name}"><a href="${referenceAddress(page)}">${escapeHtml(page.title)}</a></h2>\n<p>${escapeHtml(page.about)}</p>\n${rows}`;
  });
  return {
    address: "/docs/api/admin",
    title: "Administration",
    description: "The routes under /admin/v1, by resource.",
    main: `<p class="above"><a href="/docs/api">API reference</a></p>
<h1>Administration</h1>
<p class="lead">The routes under <code>/admin/v1</code>, for tokens with a role: <a href="/docs/administration">Administration</a>.</p>
${lists.join("\n")}`,
    parts: own.map(({ title, name }) => ({ text: title, slug: name, depth: 2 })),
  };
}
