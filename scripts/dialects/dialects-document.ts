import type { Dialect } from "../../src/core/index.ts";
import { translations } from "../../src/dialects/index.ts";
import {
  clients,
  exceptions,
  exceptionsOf,
  type Scenario,
  scenarios,
  spoken,
  type Upstream,
  upstreams,
} from "../../test/dialects/matrix/table.ts";
import { table } from "../shared/markdown.ts";

type FieldRule = (typeof translations)[Dialect]["fields"][string];

const names: Readonly<Record<Dialect, string>> = {
  chat: "Chat",
  messages: "Messages",
  responses: "Responses",
  gemini: "Gemini",
};

/** `docs/dialects.md`: from the tables of fields that the code follows and the matrix that the test runs. */
export function dialectsDocument(): string {
  const sections = [
    introduction,
    "## The dialect used with each provider",
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

Four dialects, any provider: \`POST /v1/chat/completions\` (OpenAI Chat Completions), \`POST /v1/messages\` (Anthropic
Messages), \`POST /v1/responses\` (OpenAI Responses) and \`POST /v1beta/models/{model}:generateContent\` (Gemini) reach every
model that generates text, streamed and not, with the SDK of the dialect.

- **Bytes pass through** if client and provider use the same dialect: the request except for the model's prefix and fields
  that the provider is known to refuse, the answer unchanged, streams included. Unknown fields pass too. A Responses stream
  gets a final \`data: [DONE]\` if its provider sends none.
- **Everything else is translated**, through one model of a conversation: texts, images, files, thoughts with their
  signatures, calls and results, stop reasons, usage, errors. A stream is translated event by event.
- **A field that the provider's dialect cannot express** is dropped if the answer is equivalent without it, and otherwise
  refused with 422 naming the field, before anything is held or sent.

Where client and provider use the same dialect, bytes are changed for these reasons only:

- **What a model does not take** ([the list](wire/limits.md)) is changed, and named in the header \`x-tollgate-changes\`, comma separated,
  also of an error. **An effort** becomes the nearest lower one that the model takes. **Sampling parameters** that it refuses are left
  out. \`max_tokens\` becomes \`max_completion_tokens\` for OpenAI's models that think. **\`developer\`** becomes \`system\`; a
  **\`system\` in the middle**, at models that take it at the beginning alone, joins the user's turn that it stands in, else the first
  prompt. **A forced tool** at Claude's models that refuse to be forced: the arguments are asked for as
  an answer that fits their schema, which becomes the call; if tools were called before, the prompt asks for the call. **Schemas** reach Claude as its SDKs write them: what it refuses of them stands in the descriptions. **A schema for the answer** becomes part of the prompt at DeepSeek, and at Claude's older models.
- **Functions in chat** go to OpenAI's Responses for gpt-5.4 and later, with \`store: false\`, unless the effort is \`none\`: the chat endpoint
  refuses them. A provider with \`dialects: [chat]\` gets them in chat. Forced tools go from Anthropic's chat endpoint to Messages.
- **Anthropic's chat endpoint ignores** formats of answers and efforts: a request with one is translated to Messages. Models that
  cannot be held to a schema, and JSON without one, are asked for it in the prompt.
- **Tools in namespaces** (Codex) are offered one by one by providers of Responses other than OpenAI, and called by their
  namespaces again.
- **A hosted tool** that the provider does not have, or that has no price here, is run by the gateway ([which](tools.md#hosted-tools)). Another one is left out if the model merely may use it, and named
  in the header \`x-tollgate-dropped-tools\`: agents offer one with every request. So is a type of tool that nobody here knows, for it
  might be billed. \`tool_choice\` that demands one gets 422.
- **A hosted tool without a limit of its runs** gets one in the provider's field (\`max_tool_calls\`, \`max_uses\`), told in
  \`x-tollgate-max-tool-calls\` ([Money](money.md#holds)).
- **Google's search** for clients of Messages and Responses has no functions beside it and no list of sites: it is left out then. It has
  no \`max_uses\` and no \`user_location\` either: \`x-tollgate-changes: searches\` tells so.
- **\`reasoning\` and \`thinking\`** in a chat body become \`reasoning_effort\` at OpenAI, Google, xAI, Mistral and Groq, which refuse or ignore them. **An answer to
  continue**, the last message, is marked with \`prefix: true\` for Mistral, and for DeepSeek, at its base \`/beta\`.
- **Stop sequences** at Grok's and OpenAI's models that think, which refuse them in chat: the answer is cut before the first one, whole and
  streamed. What the model writes after it is paid, so a limit is worth while.
- **Images by their addresses** are fetched for Google and Moonshot, which take their data alone: before the hold, at most ten of a call, 20 MiB
  together (one in several parts counts in each), in ten seconds, from [public addresses](security.md) or those of \`web.allow_private_hosts\`. One that fails is 422 \`image_unreachable\`.
- **Documents by their addresses** (\`fileData\` in Gemini, \`document\` in Messages, \`input_file\` in Responses) are fetched in the same way toward chat, which has
  none: PDF, texts and images. Messages and Responses upstreams get the address. Texts are held by their length.
- **Names of tools** that the provider refuses (other characters than letters, digits, \`_\` and \`-\`, or more than 64, at Anthropic 128) are
  shortened, with a hash at their end, in histories too; the client finds its own names in the answer.
- **Mistral's thoughts** are parts of a list in the place of the text. Clients of chat get a text, and the thoughts in
  \`reasoning_content\`, which they may return: it becomes the part again. \`x-tollgate-changes: answer\` tells so. Mistral's own SDKs, by their
  user agent \`mistral-client-…\`, get and send the list.
- **DeepSeek's thoughts** must return with every earlier answer once there are \`tools\`. Those that a client loses (OpenAI's SDKs know no
  \`reasoning_content\`) are [kept](security.md#keys-tokens-and-texts) under the ids of their calls for a day and added again:
  \`x-tollgate-changes: thoughts\`. If they are not known, as after an answer without calls, the call goes without thinking:
  \`x-tollgate-changes: thinking\`. Its Responses are asked in the gateway's own words, for the same reason.
- **A chat stream without usage**, of which the client has asked for it, gets the charged one in a last chunk.
- **Google's chat streams** get an \`index\` for each tool call, the reason \`tool_calls\` after calls, and the usage in a last chunk of
  its own for a client that asked for it, instead of in every chunk. SDKs and agents drop calls and texts otherwise.
- **Claude Code** (by its user agent) finds the model in the answer under the name that it asked for, prefix included. Under another
  name it would drop the thoughts, and Anthropic would refuse the rest of a tool loop.

A signature or an encrypted thought can only be used by its maker. The client gets it tagged with its origin, and returns it
like any other; its maker receives it unchanged, and no other provider does. A conversation may therefore continue with
another provider, also within a loop of tool calls, and return. The text of a thought returns, within a loop of tool calls,
to upstreams that demand it (DeepSeek, Groq, Moonshot, xAI) and, if it is their own, to those that have shown it (OpenRouter,
Ollama, vLLM and others). Two things have no place in an answer of another dialect:

- **Images** that a chat upstream puts into its answers (OpenRouter) are an \`image_generation_call\` in Responses, a text in
  Markdown with a \`data:\` URL in Messages, and \`inlineData\` in Gemini. The client returns either; the provider then gets the image.
- **A signature after the text** of an answer, without a thought (Google), is left out in Messages, because clients take the
  last block of an answer for the answer.

Passed bytes are the client's own responsibility. In Responses, an item is another provider's if its id was in an answer of that
one alone to the same user, within 30 days (a day with \`store: false\`): thoughts of others are left out, of their hosted tools' items the results
remain as text (\`x-tollgate-changes: hosted-items\`), and a \`compaction\` that only its maker can read is a 422, unless the items that it
stands for are there too. In the other dialects, two providers don't know each other's signatures, and some require signatures
that another never made (Google in chat, Anthropic with thinking within a loop that OpenAI began). A client that changes
between them omits such items, or changes between two questions.`;

const fieldsIntroduction = `The support for each field of a request if the provider is called in another dialect.
*Translated*: expressed in that dialect's way. *Carried*: same name and meaning there. *Dropped*: the answer is equivalent
without it. *Refused*: 422, unless the value requests nothing. A field that is not listed is dropped.`;

const scenariosIntroduction = `The official SDKs run these scenarios against a simulator of every kind of provider, in a test
generated from this very table: content, stop reason, usage as the provider counts it, and a charge for exactly that. **=** is
a cell whose bytes pass, **✓** a translated one; a number is an exception, listed below.`;

function whoSpeaks(): string {
  const rows = upstreams.map(({ title, speaks }) => {
    const cells = clients.map((client) => (speaks[client] === client ? `**${names[client]}**` : names[speaks[client]]));
    return [title, ...cells];
  });
  const head = ["provider", ...clients.map((client) => `from ${names[client]}`)];
  return `${table(head, rows)}

Bold is the client's own dialect. deepseek and mistral represent every \`openai-compatible\` provider. \`dialects\` in a
provider's configuration can exclude some of its dialects, as in two of the rows: it is then called in another. With
\`dialects: [responses]\` OpenAI is called in Responses only, and clients of Messages and Chat get the summaries of its
thoughts, for which OpenAI demands a verified organisation.

**Thoughts** are requested if the client asks for them: by \`thinking\` in Messages, unless its \`display\` is \`omitted\`, and
by a \`summary\` in Responses, and by \`includeThoughts\` in Gemini. Google and OpenAI show none without that.

## Gemini

- **Paths**: \`:generateContent\`, \`:streamGenerateContent\` (events with \`alt=sse\`, else a JSON list), \`:countTokens\` and [\`:embedContent\`](media.md#embeddings) under \`/v1beta/models/{model}\`,
  \`/v1/models/{model}\` and \`/v1beta1/models/{model}\`, also without \`models/\`; the model's id with its slash raw or escaped. \`GET /v1beta/models\` and \`/{model}\`
  list the models as \`models/{prefix}/{name}\`; \`/v1/models\` does so for a request with \`x-goog-api-key\`, \`x-goog-api-client\` or \`?key=\`.
- **The token** is in \`x-goog-api-key\`, in \`?key=\` or in \`Authorization: Bearer\`. An empty header is none.
- **Names** are read in camel case and in snake case. An object may stand for a list of one.
- **Streams** are lines of \`data\` and nothing else: SDKs stumble over events' names, comments and \`[DONE]\`. A call stands whole in one chunk, the
  usage and the reason of the end in the last one.
- **Errors** have Google's format, \`{ error: { code, message, status, details } }\`, with the HTTP status as the number \`code\`, in streams too.
- **Calls and results** are matched by their ids, else by name and order. \`output\`, \`error\` (a failure) and \`result\` alone in a result are its content.
- **Thoughts** are parts with \`thought: true\`. Their text is left out for a client that neither asks for it nor offers functions: older SDKs would show it as the
  answer. Signatures of other providers are tagged text in base64, like Google's own.
- **A long answer of Google's** takes several calls, each with the \`continuationToken\` of the one before: they prefer one key.
- **A name that stands twice** in an inner object reaches Google once, with its last value, which the gateway has checked.
- **Sources** of an answer are \`groundingMetadata.groundingChunks\`, without their places in the text.
- \`/files\`, \`/upload\`, \`cachedContents\`, \`:batchGenerateContent\`, \`:predict\` and \`interactions\` are 404, with what to do instead.`;
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
  const way = spoken(upstream, client, scenario) === client && upstream.rewrites?.includes(client) !== true ? "=" : "✓";
  return [way, ...numbers].join(" ");
}

function listOfExceptions(): string {
  const lines = exceptions.map(({ instead, why }, index) => {
    const refusal = typeof instead === "number" ? ` The client gets its ${instead}.` : "";
    return `${index + 1}. ${why}${refusal}`;
  });
  return `Exceptions:\n\n${lines.join("\n")}`;
}
