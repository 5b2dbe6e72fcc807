import { expect, test } from "bun:test";
import type { Generation } from "../../api/types.ts";
import { callAsCurl } from "./call-as-curl.ts";

const call = (more: Partial<Generation>) =>
  ({ id: "req_1", model: "openai/gpt-5", dialect: "chat", streamed: false, session: null, ...more }) as Generation;

test("a call of text is made again by its own route", () => {
  const text = callAsCurl(call({ dialect: "messages", streamed: true, session: "s-1" }), "http://gateway");
  expect(text).toContain("http://gateway/v1/messages");
  expect(text).toContain(`-H 'x-tollgate-session: s-1'`);
  expect(text).toContain('"stream":true');
});

test("a name can't leave its word of the shell", async () => {
  const hostile = `openai/'; echo "$(echo stolen)"; '`;
  const text = callAsCurl(call({ model: hostile }), "http://gateway");
  const words = text.replace("curl -s", "printf '%s\\n'").replace('"Authorization: Bearer $TOLLGATE_TOKEN"', "x");
  const { stdout } = Bun.spawnSync(["sh", "-c", words]);
  const body = stdout.toString().trim().split("\n").at(-1) ?? "";
  expect((JSON.parse(body) as { model: string }).model).toBe(hostile);
});

test("other calls are looked up", () => {
  expect(callAsCurl(call({ dialect: null }), "http://gateway")).toContain("/v1/generations/req_1");
});
