/** The operations of one tag as a page. */
import { sample } from "openapi-sampler";
import { codeBlock } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import type { Answer, ApiDocument, MediaType, Operation, Parameter } from "./openapi.ts";
import { samplesOf } from "./samples.ts";
import { inlineCode, rowOf, schemaView, typeOf } from "./schema-view.ts";

export function operationsView(tag: string, operations: readonly Operation[], document: ApiDocument): string {
  return `<h1>${escapeHtml(tag)}</h1>\n${operations.map((operation) => operationView(operation, document)).join("\n")}`;
}

/** The summary as a heading. */
export function headingOf({ summary }: Pick<Operation, "summary">): string {
  return summary.replace(/\.$/, "");
}

function operationView(operation: Operation, document: ApiDocument): string {
  const { operationId, method, path, description } = operation;
  return `<section class="operation" aria-labelledby="${operationId}">
<h2 id="${operationId}">${inlineCode(headingOf(operation))} <a class="anchor" href="#${operationId}" aria-label="Link to this operation">#</a></h2>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></p>
${description === undefined ? "" : `<p>${inlineCode(description)}</p>\n`}${samplesView(operation)}${parametersView(operation, document)}${bodiesView(operation, document)}${answersView(operation, document)}</section>`;
}

/** Folded but for the first: without scripts, and without a state that a page would have to remember. */
function samplesView(operation: Operation): string {
  const samples = samplesOf(operation).map(
    ({ label, language, code }, index) =>
      `<details name="sample-${operation.operationId}"${index === 0 ? " open" : ""}><summary>${label}</summary>${codeBlock(code, language)}</details>\n`,
  );
  return samples.length === 0 ? "" : `<div class="samples">\n${samples.join("")}</div>\n`;
}

const places = [
  ["path", "In the path"],
  ["query", "In the query"],
  ["header", "Headers"],
] as const;

function parametersView({ parameters = [] }: Operation, document: ApiDocument): string {
  return places
    .map(([place, title]) => {
      const found = parameters.filter((parameter) => parameter.in === place);
      if (found.length === 0) return "";
      return `<h3>${title}</h3>\n<dl class="members">${found.map((each) => parameterView(each, document)).join("")}</dl>\n`;
    })
    .join("");
}

function parameterView({ name, required, description, schema = {} }: Parameter, document: ApiDocument): string {
  const type = typeOf(schema, document);
  return rowOf({ name, type, isRequired: required === true, description: description ?? schema.description });
}

function bodiesView({ requestBody }: Operation, document: ApiDocument): string {
  if (requestBody === undefined) return "";
  const bodies = Object.entries(requestBody.content).map(
    ([type, { schema = {} }]) => `<h4><code>${type}</code></h4>\n${schemaView(schema, document)}\n`,
  );
  return `<h3>Body</h3>\n${bodies.join("")}`;
}

function answersView({ responses }: Operation, document: ApiDocument): string {
  const answers = Object.entries(responses).filter(([status]) => status.startsWith("2") || status === "101");
  const refusals = Object.entries(responses).filter(([status]) => !status.startsWith("2") && status !== "101");
  const rows = refusals.map(
    ([status, { description }]) => `<dt><code>${status}</code></dt><dd><p>${inlineCode(description)}</p></dd>`,
  );
  const errors =
    rows.length === 0
      ? ""
      : `<details><summary>Errors</summary><dl class="members">${rows.join("")}</dl><p>Their codes, and what to do: <a href="/docs/errors">errors</a>.</p></details>\n`;
  return `<h3>Answer</h3>\n${answers.map(([status, answer]) => answerView(status, answer, document)).join("")}${errors}`;
}

function answerView(status: string, { description, content = {} }: Answer, document: ApiDocument): string {
  const types = Object.keys(content);
  const shown = types.map((type) => `<code>${escapeHtml(type)}</code>`).join(", ");
  const json = content["application/json"];
  const members = json?.schema === undefined ? "" : schemaView(json.schema, document);
  const folded = members === "" ? "" : `<details><summary>Members</summary>${members}</details>\n`;
  return `<p><code>${status}</code> ${inlineCode(description)}${shown === "" ? "" : ` ${shown}`}</p>\n${exampleOf(json, members, document)}${folded}`;
}

function exampleOf(json: MediaType | undefined, members: string, document: ApiDocument): string {
  if (json?.schema === undefined || members === "") return "";
  // Its types know JSON Schema, of which the document's schemas are.
  const schema = json.schema as Parameters<typeof sample>[0];
  const example: unknown = sample(schema, { quiet: true }, document);
  return codeBlock(JSON.stringify(example, null, 2), "json");
}
