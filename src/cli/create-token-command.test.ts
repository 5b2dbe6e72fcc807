import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createTokenCommand, displayedStorage } from "./create-token-command.ts";

const create = "tollgate token create --user me --credits 10";
const server = { launcher: "tollgate", file: undefined, storageOption: undefined };

describe("createTokenCommand", () => {
  test.each<[string, Partial<Parameters<typeof createTokenCommand>[0]>, string]>([
    ["a relative SQLite file", {}, `--storage sqlite:${join(process.cwd(), "data/tollgate.db")}`],
    [
      "a SQLite file of the command line",
      { storageUrl: "sqlite:/data/t.db", storageOption: "sqlite:/data/t.db" },
      "--storage sqlite:/data/t.db",
    ],
    [
      "a SQLite file with an option",
      { storageUrl: "sqlite:/t.db?synchronous=full" },
      "--storage 'sqlite:/t.db?synchronous=full'",
    ],
    [
      "a config file",
      { file: "tollgate.yaml", storageUrl: "sqlite:/t.db" },
      `--config ${join(process.cwd(), "tollgate.yaml")} --storage sqlite:/t.db`,
    ],
    ["the Postgres of a config file", { file: "/t.yaml", storageUrl: "postgres://me:secret@db/t" }, "--config /t.yaml"],
    [
      "a Postgres of the command line, without its password",
      { storageUrl: "postgres://me:secret@db/t", storageOption: "postgres://me:secret@db/t" },
      "--storage postgres://me@db/t",
    ],
  ])("%s", (_, given, options) => {
    expect(createTokenCommand({ ...server, storageUrl: "sqlite:data/tollgate.db", ...given })).toBe(
      `${create} ${options}`,
    );
  });

  test("quotes paths for the shell", () => {
    const launcher = "/my tools/it's/tollgate";
    const command = createTokenCommand({ ...server, launcher, storageUrl: "sqlite:/a $b/t.db" }) ?? "";
    const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${command}`]);
    const [program, ...words] = stdout.toString().trimEnd().split("\n");
    expect([program, words.at(-1)]).toEqual([launcher, "sqlite:/a $b/t.db"]);
  });

  test("is undefined for a storage in memory", () => {
    expect(createTokenCommand({ ...server, storageUrl: "sqlite::memory:" })).toBeUndefined();
    expect(displayedStorage("sqlite::memory:")).toBe("sqlite::memory:");
  });
});
