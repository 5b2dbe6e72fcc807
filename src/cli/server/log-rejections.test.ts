import { expect, test } from "bun:test";

const PROGRAM = `
  import { logRejections } from "${import.meta.dir}/log-rejections.ts";
  logRejections({ error: ({ err }, message) => console.log(message + ": " + err.message) });
  void Promise.reject(new Error("nobody waits"));
  setTimeout(() => console.log("it goes on"), 1);
`;

test("a rejection that nobody handles is logged, and the process goes on", async () => {
  const child = Bun.spawn([process.execPath, "-e", PROGRAM], { stdout: "pipe", stderr: "ignore" });
  const output = await new Response(child.stdout).text();
  expect(output).toBe("a rejection was not handled: nobody waits\nit goes on\n");
  expect(await child.exited).toBe(0);
});
