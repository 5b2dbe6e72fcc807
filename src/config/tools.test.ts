import { expect, test } from "bun:test";
import { checkConfig } from "./load.ts";

const servers = { box: { url: "http://127.0.0.1:9/mcp", tools: ["*", "!secret"] } };
const read = (hosted: object) => checkConfig({ providers: {}, mcp: { servers }, tools: { hosted } }).tools.hosted;

test("a hosted tool may be run by a tool of a server", () => {
  const hosted = {
    code_interpreter: "box__python",
    code_execution: { bash: "box__sh", text_editor: "box__edit.file" },
    file_search: { tool: "box__a__b", mode: "gateway" as const },
    shell: "off",
  };
  expect(read(hosted)).toMatchObject({ ...hosted, code_execution: { ...hosted.code_execution, mode: "auto" } });
});

test.each([
  [{ code_interpreter: "auto" }, "tools.hosted.code_interpreter"],
  [{ code_interpreter: "python" }, "tools.hosted.code_interpreter"],
  [{ shell: { mode: "gateway" } }, "tools.hosted.shell"],
  [{ code_execution: { mode: "gateway" } }, "tools.hosted.code_execution: name a tool"],
  [{ code_execution: { bash: "crate__sh" } }, 'tools.hosted.code_execution.bash: there is no server "crate"'],
  [{ file_search: "web_search" }, "tools.hosted.file_search"],
  [{ file_search: "box__secret" }, 'tools.hosted.file_search: the server does not offer "secret"'],
  [{ shell: { tool: "box__secret" } }, 'tools.hosted.shell.tool: the server does not offer "secret"'],
])("%j is refused by its name", (hosted, message) => {
  expect(() => read(hosted)).toThrow(message);
});
