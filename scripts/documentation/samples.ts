/** The same request as curl, Python and TypeScript. */
import { jsonLiteral, pythonLiteral, typeScriptLiteral } from "./literals.ts";
import type { Operation } from "./openapi.ts";
import { sampleBodies, sampleForms } from "./sample-requests.ts";
import { type SdkCall, sdkCalls, sdks } from "./sdk-calls.ts";

interface RequestSample {
  label: string;
  /** Of the highlighter. */
  language: "sh" | "python" | "typescript";
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
  [/oauth-protected-resource/, { resource: "mcp" }],
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

/** Whether it is answered without a token. */
export const isPublic = ({ security }: Operation): boolean => security?.length === 0;

function curlOf(operation: Operation): string {
  const { method, operationId } = operation;
  const lines = [
    `curl ${["get", "post"].includes(method) ? "" : `-X ${method.toUpperCase()} `}"$TOLLGATE_URL${samplePath(operation)}"`,
  ];
  if (!isPublic(operation)) lines.push(`-H "Authorization: Bearer $TOLLGATE_TOKEN"`);
  const form = sampleForms[operationId];
  const body = sampleBodies[operationId];
  if (form !== undefined) lines.push(...Object.entries(form).map(([name, value]) => `-F ${name}=${value}`));
  else if (body !== undefined) lines.push(`-H "Content-Type: application/json"`, `-d '${jsonLiteral(body, "  ")}'`);
  else if (method === "post") lines.push("-X POST");
  if (answersBytes(operation)) lines.push("-o answer");
  return lines.join(" \\\n  ");
}

/** Speech has events and a form in JSON too, for those who ask for them; lists have CSV in the same way. */
function answersBytes({ responses }: Operation): boolean {
  const types = Object.keys(responses["200"]?.content ?? {});
  return types[0] === "text/csv" || types.some((type) => /^(?:audio|image|video)\/|octet-stream/.test(type));
}

function pythonOf(operation: Operation): string {
  const call = sdkCalls[operation.operationId];
  return call === undefined ? pythonRequest(operation) : pythonSdk(call, answersBytes(operation));
}

function pythonSdk({ sdk, python, shown }: SdkCall, isFile: boolean): string {
  const imported = `import os\n${sdks[sdk].python}`;
  if (shown === "text-parts")
    return `${imported}\nstream = client.${python}\nfor part in stream:\n    print(part.text)`;
  return `${imported}\nanswer = client.${python}\n${isFile ? 'answer.write_to_file("answer")' : "print(answer)"}`;
}

function pythonRequest(operation: Operation): string {
  const { method, operationId } = operation;
  const body = sampleBodies[operationId];
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
  const call = sdkCalls[operation.operationId];
  return call === undefined ? typeScriptRequest(operation) : typeScriptSdk(call, answersBytes(operation));
}

const WRITTEN = 'await writeFile("answer", Buffer.from(await answer.arrayBuffer()));';
const WRITING = 'import { writeFile } from "node:fs/promises";\n';

function typeScriptSdk({ sdk, typescript, shown, imports }: SdkCall, isFile: boolean): string {
  const imported = `${imports === undefined ? "" : `${imports}\n`}${isFile ? WRITING : ""}${sdks[sdk].typescript}`;
  if (shown === "text-parts")
    return `${imported}\nconst stream = await client.${typescript};\nfor await (const part of stream) console.log(part.text);`;
  return `${imported}\nconst answer = await client.${typescript};\n${isFile ? WRITTEN : "console.log(answer);"}`;
}

function typeScriptRequest(operation: Operation): string {
  const { method, operationId } = operation;
  const body = sampleBodies[operationId];
  const form = Object.entries(sampleForms[operationId] ?? {});
  const headers = [
    isPublic(operation) ? [] : ["Authorization: `Bearer ${process.env.TOLLGATE_TOKEN}`"],
    form.length === 0 && body !== undefined ? ['"Content-Type": "application/json"'] : [],
  ].flat();
  const options = [
    method === "get" ? "" : `  method: "${method.toUpperCase()}",\n`,
    headersOf(headers),
    form.length > 0 ? "  body: form,\n" : "",
    form.length === 0 && body !== undefined ? `  body: JSON.stringify(${typeScriptLiteral(body, "  ")}),\n` : "",
  ].join("");
  const isFile = answersBytes(operation);
  const shown = isFile ? WRITTEN : "console.log(await answer.json());";
  return `${isFile ? `${WRITING}\n` : ""}${formOf(form)}const answer = await fetch(\`\${process.env.TOLLGATE_URL}${samplePath(operation)}\`${options === "" ? "" : `, {\n${options}}`});
if (!answer.ok) throw new Error(await answer.text());
${shown}`;
}

function headersOf(headers: readonly string[]): string {
  if (headers.length < 2) return headers.map((header) => `  headers: { ${header} },\n`).join("");
  return `  headers: {\n${headers.map((header) => `    ${header},\n`).join("")}  },\n`;
}

function formOf(form: readonly (readonly [string, string])[]): string {
  if (form.length === 0) return "";
  const lines = form.map(([name, value]) => {
    const part = value.startsWith("@") ? `await openAsBlob("${value.slice(1)}"), "${value.slice(1)}"` : `"${value}"`;
    return `form.set("${name}", ${part});\n`;
  });
  return `import { openAsBlob } from "node:fs";\n\nconst form = new FormData();\n${lines.join("")}`;
}
