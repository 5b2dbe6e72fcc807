import { type JsonObject, objectOf, objectsOf, stringOf } from "../../core/index.ts";

/** Reads the content of a search result that its client can't; undefined if it is another's. */
type OpenResult = (content: unknown) => string | undefined;

const closed: OpenResult = () => undefined;

/** The text that a block of a tool that Anthropic runs leaves in a history for other upstreams; undefined for other blocks. */
export function textOfHosted(block: JsonObject, open: OpenResult = closed): string | undefined {
  const { type, content } = block;
  switch (type) {
    case "server_tool_use":
    case "mcp_tool_use":
    case "tool_search_tool_result":
    case "container_upload":
    case "fallback":
      return "";
    case "web_search_tool_result":
      return titled(
        "Pages found on the web:",
        objectsOf(content).map((page) => resultOf(page, open)),
      );
    case "web_fetch_tool_result":
      return titled("A page of the web:", [fetchedIn(objectOf(content) ?? {})]);
    case "mcp_tool_result":
      return titled("Result of a tool:", typeof content === "string" ? [content] : objectsOf(content).map(textIn));
    case "code_execution_tool_result":
    case "bash_code_execution_tool_result":
    case "text_editor_code_execution_tool_result":
      return titled("Result of code that was run:", outputIn(objectOf(content) ?? {}));
    default:
      return undefined;
  }
}

function titled(title: string, texts: readonly string[]): string {
  const found = texts.filter((text) => text !== "");
  return found.length === 0 ? "" : `${title}\n${found.join("\n")}`;
}

const textIn = ({ text }: JsonObject): string => stringOf(text);

const pageOf = ({ title, url }: JsonObject): string => [stringOf(title), stringOf(url)].filter(Boolean).join(": ");

/** A result of another maker is its title and its address. */
function resultOf(page: JsonObject, open: OpenResult): string {
  const text = open(page["encrypted_content"]) ?? "";
  return text === "" ? pageOf(page) : `${pageOf(page)}\n${text}`;
}

/** The address and the text of a fetched page; bytes are left out. */
function fetchedIn({ url, content }: JsonObject): string {
  const { title, source } = objectOf(content) ?? {};
  const { type, data } = objectOf(source) ?? {};
  return titled(pageOf({ title, url }), [type === "text" ? stringOf(data) : ""]) || pageOf({ title, url });
}

function outputIn({ stdout, stderr, return_code: code, content }: JsonObject): string[] {
  const ended = typeof code === "number" && code !== 0 ? `exit code ${code}` : "";
  return [stringOf(stdout), stringOf(stderr), ended, stringOf(content)];
}
