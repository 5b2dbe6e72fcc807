/** The same request as curl, Python and TypeScript. */
import { pythonArguments, pythonLiteral, typeScriptLiteral } from "./literals.ts";
import type { Operation } from "./openapi.ts";
import { sampleBodies, sampleForms, sdkCalls } from "./sample-requests.ts";

interface RequestSample {
  label: string;
  /** Of the highlighter. */
  language: string;
  code: string;
}

/** Empty for an operation that is no request by HTTP alone. */
export function samplesOf(operation: Operation): RequestSample[] {
  if (operation.operationId === "openRealtimeSession") return [];
  return [
    { label: "curl", language: "sh", code: curlOf(operation) },
    { label: "Python", language: "python", code: pythonOf(operation) },
    { label: "TypeScript", language: "typescript", code: typeScriptOf(operation) },
  ];
}

/** The values that every gateway has. */
const known: Readonly<Record<string, string>> = {
  provider: "openai",
  model: "openai/gpt-5-mini",
  model_id: "openai/gpt-5-mini",
  name: "web_search",
};

/** Those of some paths alone. */
const knownAt: readonly [RegExp, Readonly<Record<string, string>>][] = [
  [/mbedContents?$/, { model: "openai/text-embedding-3-small" }],
  [/\/contents\/generations\/tasks/, { provider: "byteplus" }],
];

const valueOf = (name: string): string => known[name] ?? name.toUpperCase();

/** The path with a value for each of its parameters and of those that its query needs, or a name in capitals. */
export function samplePath({ path, parameters = [] }: Pick<Operation, "path" | "parameters">): string {
  const needed = parameters.filter((each) => each.in === "query" && each.required === true);
  const query = needed.map(({ name }) => `${name}=${valueOf(name)}`).join("&");
  const [, own = {}] = knownAt.find(([paths]) => paths.test(path)) ?? [];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => own[name] ?? valueOf(name));
  return query === "" ? filled : `${filled}?${query}`;
}

const isPublic = ({ security }: Operation): boolean => security?.length === 0;

function curlOf(operation: Operation): string {
  const { method, operationId } = operation;
  const lines = [
    `curl ${["get", "post"].includes(method) ? "" : `-X ${method.toUpperCase()} `}"$TOLLGATE_URL${samplePath(operation)}"`,
  ];
  if (!isPublic(operation)) lines.push(`-H "Authorization: Bearer $TOLLGATE_TOKEN"`);
  const form = sampleForms[operationId];
  const body = sampleBodies[operationId];
  if (form !== undefined) lines.push(...Object.entries(form).map(([name, value]) => `-F ${name}=${value}`));
  else if (body !== undefined)
    lines.push(`-H "Content-Type: application/json"`, `-d '${JSON.stringify(body, null, 2)}'`);
  else if (method === "post") lines.push("-X POST");
  if (answersBytes(operation)) lines.push("-o answer");
  return lines.join(" \\\n  ");
}

/** Speech has events and a form in JSON too, for those who ask for them. */
function answersBytes({ responses }: Operation): boolean {
  const types = Object.keys(responses["200"]?.content ?? {});
  return types.some((type) => /^(?:audio|image|video)\/|octet-stream/.test(type));
}

function pythonOf(operation: Operation): string {
  const { method, operationId } = operation;
  const call = sdkCalls[operationId];
  const body = sampleBodies[operationId];
  if (call !== undefined) {
    const [name, base] = call.sdk === "openai" ? ["OpenAI", ' + "/v1"'] : ["Anthropic", ""];
    return `import os
from ${call.sdk} import ${name}

client = ${name}(
    base_url=os.environ["TOLLGATE_URL"]${base},
    api_key=os.environ["TOLLGATE_TOKEN"],
)
answer = client.${call.python}(${body === undefined ? "" : pythonArguments(body)})
print(answer)`;
  }
  const form = Object.entries(sampleForms[operationId] ?? {});
  const data = Object.fromEntries(form.filter(([, value]) => !value.startsWith("@")));
  const files = form.filter(([, value]) => value.startsWith("@"));
  const parts = [
    `    os.environ["TOLLGATE_URL"] + "${samplePath(operation)}",\n`,
    isPublic(operation) ? "" : `    headers={"Authorization": "Bearer " + os.environ["TOLLGATE_TOKEN"]},\n`,
    form.length === 0 && body !== undefined ? `    json=${pythonLiteral(body, "    ")},\n` : "",
    form.length === 0 ? "" : `    data=${pythonLiteral(data, "    ")},\n`,
    ...files.map(([name, value]) => `    files={"${name}": open("${value.slice(1)}", "rb")},\n`),
  ];
  const shown = answersBytes(operation) ? `open("answer", "wb").write(answer.content)` : "print(answer.json())";
  return `import os
import requests

answer = requests.${method}(
${parts.join("")})
answer.raise_for_status()
${shown}`;
}

function typeScriptOf(operation: Operation): string {
  const { method, operationId } = operation;
  const call = sdkCalls[operationId];
  const body = sampleBodies[operationId];
  if (call !== undefined) {
    const [name, from, base] =
      call.sdk === "openai"
        ? ["OpenAI", "openai", "${process.env.TOLLGATE_URL}/v1"]
        : ["Anthropic", "@anthropic-ai/sdk", "${process.env.TOLLGATE_URL}"];
    return `import ${name} from "${from}";

const client = new ${name}({ baseURL: \`${base}\`, apiKey: process.env.TOLLGATE_TOKEN });
const answer = await client.${call.typescript}(${body === undefined ? "" : typeScriptLiteral(body)});
console.log(answer);`;
  }
  const form = Object.entries(sampleForms[operationId] ?? {});
  const headers = [
    isPublic(operation) ? [] : ["Authorization: `Bearer ${process.env.TOLLGATE_TOKEN}`"],
    form.length === 0 && body !== undefined ? ['"Content-Type": "application/json"'] : [],
  ].flat();
  const options = [
    method === "get" ? "" : `  method: "${method.toUpperCase()}",\n`,
    headers.length === 0 ? "" : `  headers: { ${headers.join(", ")} },\n`,
    form.length > 0 ? "  body: form,\n" : "",
    form.length === 0 && body !== undefined ? `  body: JSON.stringify(${typeScriptLiteral(body, "  ")}),\n` : "",
  ].join("");
  const isFile = answersBytes(operation);
  const shown = isFile
    ? 'await writeFile("answer", Buffer.from(await answer.arrayBuffer()));'
    : "console.log(await answer.json());";
  const imported = isFile ? 'import { writeFile } from "node:fs/promises";\n\n' : "";
  return `${imported}${formOf(form)}const answer = await fetch(\`\${process.env.TOLLGATE_URL}${samplePath(operation)}\`${options === "" ? "" : `, {\n${options}}`});
if (!answer.ok) throw new Error(await answer.text());
${shown}`;
}

function formOf(form: readonly (readonly [string, string])[]): string {
  if (form.length === 0) return "";
  const lines = form.map(([name, value]) => {
    const part = value.startsWith("@") ? `await openAsBlob("${value.slice(1)}"), "${value.slice(1)}"` : `"${value}"`;
    return `form.set("${name}", ${part});\n`;
  });
  return `import { openAsBlob } from "node:fs";\n\nconst form = new FormData();\n${lines.join("")}`;
}
