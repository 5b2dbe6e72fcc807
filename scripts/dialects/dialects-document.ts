import type { Dialect } from "../../src/core/index.ts";
import { translations } from "../../src/dialects/index.ts";
import {
  clients,
  exceptions,
  exceptionsOf,
  type Scenario,
  scenarios,
  type Upstream,
  upstreams,
} from "../../test/dialects/matrix/table.ts";
import { table } from "../shared/markdown.ts";

type FieldRule = (typeof translations)[Dialect]["fields"][string];

const names: Readonly<Record<Dialect, string>> = { chat: "Chat", messages: "Messages", responses: "Responses" };

/** `docs/dialects.md`: from the tables of fields that the code follows and the matrix that the test runs. */
export function dialectsDocument(): string {
  const sections = [
    introduction,
    "## Who is asked in what",
    whoSpeaks(),
    "## Fields",
    fieldsIntroduction,
    ...clients.flatMap((dialect) => [`### From ${names[dialect]}`, fieldsOf(dialect)]),
    "## Scenarios",
    scenariosIntroduction,
    listOfScenarios(),
    ...clients.flatMap((dialect) => [`### A client of ${names[dialect]}`, matrixOf(dialect)]),
    listOfExceptions(),
  ];
  return `${sections.join("\n\n")}\n`;
}

const introduction = `<!-- Written by "npm run generate" from src/dialects/*/fields.ts and test/dialects/matrix/table.ts. -->

# Dialects

Three dialects, any provider: \`POST /v1/chat/completions\` (OpenAI Chat Completions), \`POST /v1/messages\` (Anthropic
Messages) and \`POST /v1/responses\` (OpenAI Responses) reach every model that can talk, streamed and not, with the SDK
that speaks the dialect.

- **Bytes pass** where client and provider speak the same dialect: the request's but for the model's prefix and what the
  provider is known to refuse, the answer's unchanged, streams included. What the gateway has never heard of passes too.
  A Responses stream gets \`data: [DONE]\` behind it where its provider sends none.
- **Everything else is translated**, through one model of a conversation: texts, pictures, files, thoughts with their
  signatures, calls and results, stop reasons, usage, errors. A stream is translated event by event.
- **What the provider's dialect has no words for** is dropped where the answer is as good without it, and otherwise
  refused with 422 naming the field, before anything is held or sent.

A signature or an encrypted thought is for its maker alone. The client gets it, with a mark that says whose it is, and
sends it back as it would any other; it reaches its maker as it was made, and nobody else. So a conversation may go on with
another provider, in the middle of a loop of tool calls too, and come back.

Bytes that pass are the client's own affair, here as well. Two providers of the same dialect don't know each other's
signatures (OpenAI's and xAI's Responses), and some demand those that another never gave (Google in chat, Anthropic where it
is to think within a loop that OpenAI began): who changes between them leaves such items out, or does it between two
questions.`;

const fieldsIntroduction = `What becomes of each field of a request where the provider is asked in another dialect.
*Translated*: said in that dialect's way. *Carried*: the same name and meaning there. *Dropped*: the answer is as good
without it. *Refused*: 422, unless the value asks for nothing. A field that stands here nowhere is dropped.`;

const scenariosIntroduction = `What the official SDKs are held to before every kind of provider, by a test that runs
this very table against simulators of them: content, stop reason, usage as the provider counts it, and a charge for
exactly that. **=** is a cell whose bytes pass, **✓** a translated one; a number is
an exception, below.`;

function whoSpeaks(): string {
  const rows = upstreams.map(({ title, speaks }) => {
    const cells = clients.map((client) => (speaks[client] === client ? `**${names[client]}**` : names[speaks[client]]));
    return [title, ...cells];
  });
  const head = ["provider", ...clients.map((client) => `from ${names[client]}`)];
  return `${table(head, rows)}

Bold is the client's own dialect. deepseek and mistral stand for every \`openai-compatible\` provider. \`dialects\` in a
provider's configuration leaves some of its dialects out, as the last but one shows: it is then asked in another.`;
}

function fieldsOf(dialect: Dialect): string {
  const others = clients.filter((other) => other !== dialect);
  const rows = Object.entries(translations[dialect].fields).map(([field, rule]) => [
    `\`${field}\``,
    ...others.map((other) => rule.support[other]),
    noteOf(rule),
  ]);
  return table(["field", ...others.map((other) => `to ${names[other]}`), ""], rows);
}

function noteOf({ note = "", noOpValues: neutral = [] }: FieldRule): string {
  const values = neutral.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  return [note, ...(values === "" ? [] : [`never refused: ${values}`])].filter((text) => text !== "").join("; ");
}

function listOfScenarios(): string {
  return Object.entries(scenarios)
    .map(([name, what]) => `- **${name}**: ${what}`)
    .join("\n");
}

function matrixOf(client: Dialect): string {
  const rows = Object.keys(scenarios).map((name) => {
    const scenario = name as Scenario;
    return [name, ...upstreams.map((upstream) => cellOf(scenario, client, upstream))];
  });
  return table(["", ...upstreams.map(({ title }) => title)], rows);
}

function cellOf(scenario: Scenario, client: Dialect, upstream: Upstream): string {
  const numbers = exceptionsOf(scenario, client, upstream).map((one) => exceptions.indexOf(one) + 1);
  const way = upstream.speaks[client] === client ? "=" : "✓";
  return [way, ...numbers].join(" ");
}

function listOfExceptions(): string {
  const lines = exceptions.map(({ instead, why }, index) => {
    const refusal = typeof instead === "number" ? ` The client gets its ${instead}.` : "";
    return `${index + 1}. ${why}${refusal}`;
  });
  return `Exceptions:\n\n${lines.join("\n")}`;
}
