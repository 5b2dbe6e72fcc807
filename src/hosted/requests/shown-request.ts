/** A request with hosted tools as its client sees it again: repeated in the response, and in the headers of the answer. */
import { type JsonObject, listOf, objectOf } from "../../core/index.ts";
import type { ReadyTool } from "../running/configured-tools.ts";
import type { AskedTool } from "./asked-tools.ts";

/** The body as a response repeats it: without the credentials that its client sends for servers of tools, and for containers. */
export function withoutSecrets(body: JsonObject): JsonObject {
  const tools = listOf(body["tools"]);
  return tools.some((tool) => withoutCredentials(tool) !== tool)
    ? { ...body, tools: tools.map(withoutCredentials) }
    : body;
}

/** The tool itself if it has none. */
function withoutCredentials(tool: unknown): unknown {
  const given = objectOf(tool) ?? {};
  const { authorization: _, ...rest } = given;
  if (given["type"] === "mcp") return { ...rest, headers: null };
  for (const place of ["container", "environment"]) {
    const container = objectOf(given[place]);
    const policy = objectOf(container?.["network_policy"]);
    if (policy?.["domain_secrets"] === undefined) continue;
    return { ...given, [place]: { ...container, network_policy: { ...policy, domain_secrets: undefined } } };
  }
  return tool;
}

/** The headers that name the parts of the request that nothing here can do. */
export function headersOf({
  run,
  left,
}: {
  run: readonly ReadyTool[];
  left: readonly AskedTool[];
}): Record<string, string> {
  const dropped = [...new Set(left.map(({ type }) => type))].join(", ");
  const changed = [...new Set(run.flatMap(changesOf))].join(", ");
  return {
    ...(dropped !== "" && { "x-tollgate-dropped-tools": dropped }),
    ...(changed !== "" && { "x-tollgate-changes": changed }),
  };
}

function changesOf(tool: ReadyTool): string[] {
  if ("hasLocation" in tool) return tool.hasLocation ? ["searches"] : [];
  const { value } = tool;
  if (tool.kind === "image_generation") {
    const { model: named, partial_images: partial } = value;
    const isOther = typeof named === "string" && ![named, `openai/${named}`].includes(tool.models?.id ?? "");
    return isOther || (typeof partial === "number" && partial > 0) ? ["images"] : [];
  }
  if (tool.kind === "file_search") {
    const [found] = "found" in tool ? tool.found : [];
    const isLost = ["vector_store_ids", "filters"].some(
      (name) => isGiven(value[name]) && !found?.form.members.has(name),
    );
    return isLost ? ["files"] : [];
  }
  const container = objectOf(value["container"] ?? value["environment"]);
  return container !== undefined && ["file_ids", "skills", "network_policy"].some((name) => isGiven(container[name]))
    ? ["containers"]
    : [];
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/** The headers of the first round with those: what both name is named once. */
export function withNotices(
  headers: Readonly<Record<string, string>>,
  notices: Readonly<Record<string, string>>,
): Record<string, string> {
  const joined = Object.entries(notices).map(([name, value]) => {
    const all = [headers[name] ?? "", value].flatMap((list) => list.split(", ")).filter((one) => one !== "");
    return [name, [...new Set(all)].join(", ")] as const;
  });
  return { ...headers, ...Object.fromEntries(joined) };
}
