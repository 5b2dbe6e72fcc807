import { expect, test } from "bun:test";
import { checkConfig } from "../../config/index.ts";
import { serverPlansOf } from "./programs.ts";

const plansOf = (server: object, gateway: { id: number | undefined; name: string }) =>
  serverPlansOf(checkConfig({ providers: {}, mcp: { servers: { files: { command: "node", ...server } } } }), gateway);

test("a gateway of root gives a program another user, any other one needs a word", () => {
  expect(plansOf({}, { id: 0, name: "root" })).toHaveLength(1);
  const gateway = { id: 1000, name: "tollgate" };
  expect(() => plansOf({}, gateway)).toThrow(
    "mcp.servers.files.user: the program would run as the gateway's own user, tollgate",
  );
  expect(() => plansOf({ user: "nobody" }, gateway)).toThrow("only a gateway of root");
  for (const user of ["1000", "tollgate"]) expect(plansOf({ user }, gateway)).toHaveLength(1);
});
