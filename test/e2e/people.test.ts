/** `tollgate people apply`: many users from a file, and their secrets in another one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeOf, operatorOf, type Rig, startRig } from "../kit/index.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-people-"));
let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.stop();
  rmSync(folder, { recursive: true, force: true });
});

const { cli, run, chat } = operatorOf(() => rig.gateway);

test("a file of people is shown as a difference, applied once, and its secrets are in a file of their owner alone", async () => {
  const file = join(folder, "people.csv");
  const secrets = join(folder, "tokens.csv");
  writeFileSync(file, "name,organisation,token,rpm\nann,acme,true,60\nbea,acme,true,\n");
  await run("organisation", "create", "acme");
  await run("credits", "grant", "--organisation", "acme", "--amount", "5");
  expect(await run("people", "apply", file, "--dry-run")).toBe(
    "+ ann\n+ bea\nIt would be: 2 created, 0 changed, 0 moved, 0 unchanged, 2 tokens.\n",
  );
  expect((await cli("people", "apply", file)).stderr).toBe(
    "tollgate: --tokens: name a new file for the secrets, which are shown only once\n",
  );
  const shown = await run("people", "apply", file, "--tokens", secrets, "--reason", "a new team");
  expect(shown).toBe(`+ ann\n+ bea\n2 created, 0 changed, 0 moved, 0 unchanged, 2 tokens in ${secrets}.\n`);
  expect(statSync(secrets).mode & 0o777).toBe(0o600);
  const [header, ...lines] = readFileSync(secrets, "utf8").trimEnd().split("\n");
  expect([header, lines.map((line) => line.split(",")[0])]).toEqual(["name,token_id,token", ["ann", "bea"]]);
  for (const line of lines) {
    const [, id = "", token = ""] = line.split(",");
    expect(token).toStartWith(`tg_${id}_`);
    expect(await codeOf(await chat(token))).toBe("status 200");
  }
  // A file of secrets is never written over, nor is anything changed then.
  writeFileSync(file, '{"people": [{"name": "cem", "token": true}, {"name": "ann", "rpm": 90}]}');
  expect((await cli("people", "apply", file, "--tokens", secrets)).stderr).toBe(
    `tollgate: --tokens: ${secrets} can't be created, or exists already\n`,
  );
  expect((await cli("user", "show", "cem")).code).toBe(1);
  const further = join(folder, "further.csv");
  const answer = JSON.parse(await run("people", "apply", file, "--tokens", further, "--json")) as object;
  const { id } = /^cem,(?<id>[^,]+),tg_/m.exec(readFileSync(further, "utf8"))?.groups ?? {};
  expect(answer).toEqual({
    object: "people",
    created: ["cem"],
    changed: [{ name: "ann", before: { rpm: 60 }, after: { rpm: 90 } }],
    moved: [],
    unchanged: [],
    tokens: [{ name: "cem", token_id: id, token: null }],
  });
  writeFileSync(file, "name,organisation\ndan,nowhere\n");
  const refused = await cli("people", "apply", file, "--tokens", join(folder, "none.csv"));
  expect(refused.stderr).toBe("tollgate: row 1 (dan): there is no organisation nowhere\n");
  expect(() => statSync(join(folder, "none.csv"))).toThrow();
});
