/** A page of the reference: each operation with its fields on one side, and its samples on the other. */
import { answerExample } from "./answer-examples.ts";
import { codeBlock } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import { jsonLiteral } from "./literals.ts";
import type { Answer, ApiDocument, Operation } from "./openapi.ts";
import { referenceAddress, type ReferencePage, titleOf } from "./reference-pages.ts";
import { GREETING, sampleBodies } from "./sample-requests.ts";
import { isPublic, samplesOf } from "./samples.ts";
import { inlineCode, rowOf, schemaView } from "./schema-view.ts";

/** The content of a page. `guides` are the titles of guides by their names. */
export function referenceView(page: ReferencePage, document: ApiDocument, guides: ReadonlyMap<string, string>): string {
  const { title, about, isAdministration, operations } = page;
  const links = page.guides.flatMap((name) => {
    const text = guides.get(name);
    return text === undefined ? [] : [`<a href="/docs/${name}">${escapeHtml(text)}</a>`];
  });
  const read = links.length === 0 ? "" : `<p class="guides">Guides: ${links.join(" · ")}</p>\n`;
  return `<p class="above"><a href="/docs/api">API reference</a>${isAdministration ? " / Administration" : ""}</p>
<h1>${escapeHtml(title)}</h1>
<p class="lead">${escapeHtml(about)}</p>
${read}${routeList(page)}
${operations.map((operation) => operationView(operation, document)).join("\n")}`;
}

/** The routes of a page, each a link to its part. */
export function routeList(page: ReferencePage): string {
  const rows = page.operations.map((operation) => {
    const to = `${referenceAddress(page)}#${operation.operationId}`;
    return `<li>${methodView(operation)} <a href="${to}">${pathView(operation.path)}</a> <span>${escapeHtml(titleOf(operation))}</span></li>`;
  });
  return `<ul class="routes">${rows.join("\n")}</ul>`;
}

function methodView({ method }: Pick<Operation, "method">): string {
  return `<span class="method ${method}">${method.toUpperCase()}</span>`;
}

/** A path that may be broken between its parts, with its parameters marked. */
function pathView(path: string): string {
  const parts = escapeHtml(path)
    .replaceAll("/", "<wbr>/")
    .replaceAll(/\{\w+\}/g, (name) => `<var>${name}</var>`);
  return `<code>${parts.replace(/^<wbr>/, "")}</code>`;
}

function operationView(operation: Operation, document: ApiDocument): string {
  const { operationId, path, summary, description } = operation;
  return `<section class="operation" aria-labelledby="${operationId}">
<div class="head">
<h2 id="${operationId}">${escapeHtml(titleOf(operation))} <a class="anchor" href="#${operationId}" aria-label="Link to this operation">#</a></h2>
<p class="route">${methodView(operation)} ${pathView(path)}${isPublic(operation) ? ' <span class="type">no token needed</span>' : ""}</p>
<p>${inlineCode(summary)}</p>
${description === undefined ? "" : `<p>${inlineCode(description)}</p>\n`}</div>
<div class="beside">
${samplesView(operation)}${examplesView(operation, document)}</div>
<div class="details">
${parametersView(operation, document)}${bodiesView(operation, document)}${answersView(operation, document)}</div>
</section>`;
}

/** Buttons of one choice, so that it needs no scripts; the arrow keys move between them. */
function samplesView(operation: Operation): string {
  const { operationId } = operation;
  const samples = samplesOf(operation);
  if (samples.length === 0) return "";
  const choices = samples.map(
    ({ label, language }, index) =>
      `<input type="radio" name="${operationId}--sample" id="${operationId}--${language}" value="${language}"${index === 0 ? " checked" : ""} autocomplete="off"><label for="${operationId}--${language}">${label}</label>\n`,
  );
  const panels = samples.map(
    ({ language, code }) => `<div class="panel ${language}">${codeBlock(code, language)}</div>\n`,
  );
  const link = tryLink(operationId);
  return `${link}<fieldset class="samples">\n<legend>Request</legend>\n${choices.join("")}${panels.join("")}</fieldset>\n`;
}

/** The operations that the console's playground has, each with its kind there. */
const tried: Readonly<Record<string, "chat" | "image_generation">> = {
  createChatCompletion: "chat",
  createMessage: "chat",
  createResponse: "chat",
  createImage: "image_generation",
};

/** A link to the playground with the model and the text of the sample; empty if it has no such calls. */
function tryLink(operationId: string): string {
  const kind = tried[operationId];
  if (kind === undefined) return "";
  const { model, prompt = GREETING } = sampleBodies[operationId] ?? {};
  const words = new URLSearchParams({ model: String(model), prompt: String(prompt) });
  if (kind !== "chat") words.set("operation", kind);
  return `<p class="try"><a href="/console/playground?${escapeHtml(words.toString())}">Try it in the playground</a></p>\n`;
}

const places = [
  ["path", "Path"],
  ["query", "Query"],
  ["header", "Headers"],
] as const;

function parametersView({ operationId, parameters = [] }: Operation, document: ApiDocument): string {
  return places
    .map(([place, title]) => {
      const found = parameters.filter((parameter) => parameter.in === place);
      if (found.length === 0) return "";
      const rows = found.map(({ name, required, description, schema = {} }) => {
        const id = `${operationId}-${place}-${name}`;
        const text = description ?? schema.description;
        return rowOf({ name, schema, document, isRequired: required === true, description: text, id });
      });
      return `<h3>${title}</h3>\n<dl class="fields">${rows.join("")}</dl>\n`;
    })
    .join("");
}

function bodiesView({ operationId, requestBody }: Operation, document: ApiDocument): string {
  if (requestBody === undefined) return "";
  const bodies = Object.entries(requestBody.content).map(([type, { schema = {} }], index) => {
    const fields = schemaView(schema, document, index === 0 ? operationId : undefined);
    return `<h3>Body <code>${escapeHtml(type)}</code></h3>\n${fields}\n`;
  });
  return bodies.join("");
}

const isSuccess = (status: string): boolean => status.startsWith("2") || status === "101";

function answersView({ responses }: Operation, document: ApiDocument): string {
  const answers = Object.entries(responses).filter(([status]) => isSuccess(status));
  const refusals = Object.entries(responses).filter(([status]) => !isSuccess(status));
  const rows = refusals.map(
    ([status, { description }]) =>
      `<dt><code class="status">${status}</code></dt><dd><p>${inlineCode(description)}</p></dd>`,
  );
  const errors =
    rows.length === 0
      ? ""
      : `<details class="nested"><summary>Errors</summary><dl class="fields statuses">${rows.join("")}</dl><p>Their codes, and the reaction of a client: <a href="/docs/errors">Errors</a>.</p></details>\n`;
  return `<h3>Answer</h3>\n${distinct(answers)
    .map(([status, answer]) => answerView(status, answer, document))
    .join("")}${errors}`;
}

/** Answers of several statuses that say the same are one. */
function distinct(answers: readonly [string, Answer][]): [string, Answer][] {
  const found = new Map<string, [string, Answer]>();
  for (const [status, answer] of answers) {
    const key = JSON.stringify(answer.content);
    const before = found.get(key);
    found.set(key, before === undefined ? [status, answer] : [`${before[0]}, ${status}`, before[1]]);
  }
  return [...found.values()];
}

function answerView(
  status: string,
  { description, headers = {}, content = {} }: Answer,
  document: ApiDocument,
): string {
  const shown = Object.keys(content).map((type) => `<code>${escapeHtml(type)}</code>`);
  const schema = content["application/json"]?.schema;
  const fields = schema === undefined ? "" : schemaView(schema, document);
  const about = schema?.description === undefined ? "" : ` ${inlineCode(schema.description)}`;
  const names = Object.keys(headers).filter((name) => name !== "x-request-id");
  const list = names.map((name) => `<li><a href="/docs/api#header-${name}"><code>${escapeHtml(name)}</code></a></li>`);
  return `<p><code class="status ok">${status.replaceAll(", ", '</code> <code class="status ok">')}</code> ${inlineCode(description)}${about} ${shown.join(", ")}</p>
${fields === "" ? "" : `<details class="nested"><summary>Fields of the answer</summary>${fields}</details>\n`}${list.length === 0 ? "" : `<details class="nested"><summary>Headers of the answer</summary><ul class="headers">${list.join("")}</ul></details>\n`}`;
}

/** The first JSON that a successful call answers. */
function examplesView(operation: Operation, document: ApiDocument): string {
  const success = Object.entries(operation.responses).find(
    ([status, { content }]) => isSuccess(status) && content?.["application/json"]?.schema !== undefined,
  );
  const schema = success?.[1].content?.["application/json"]?.schema;
  if (success === undefined || schema === undefined) return "";
  const example = answerExample(operation, schema, document);
  if (example === undefined) return "";
  return `<figure class="example"><figcaption>Answer <code class="status ok">${success[0]}</code></figcaption>${codeBlock(jsonLiteral(example), "json")}</figure>\n`;
}
