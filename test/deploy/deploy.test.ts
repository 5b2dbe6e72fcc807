/** The files of deploy/ that can be compared with what they deploy, and the command that their health checks run. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/index.ts";
import { type Rig, root, runCli, startRig } from "../kit/index.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const dockerfile = read("deploy/Dockerfile");
const manifest = JSON.parse(read("package.json")) as { dependencies: Record<string, string>; files: string[] };

describe("the image", () => {
  test("has the package's version of Bun", () => {
    const tags = [...dockerfile.matchAll(/^FROM oven\/bun:(\S+)-slim/gm)].map(([, tag]) => tag);
    expect(new Set(tags)).toEqual(new Set([manifest.dependencies["bun"]]));
  });

  test("has every file of the package that a server reads", () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, files = ""]) => files.split(" "));
    expect(copied.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const packed = manifest.files.filter((file) => !file.startsWith("!") && !file.endsWith(".md"));
    const isCopied = (file: string): boolean => copied.some((each) => `${file}/`.startsWith(`${each}/`));
    expect(packed.filter((file) => !isCopied(file))).toEqual([]);
    const kept = read("deploy/Dockerfile.dockerignore")
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
    expect(kept.toSorted()).toEqual([...new Set(copied)].toSorted());
  });
});

test("the configuration of compose.yaml is valid, and each variable of it is passed on", () => {
  const compose = parse(read("deploy/compose.yaml"), { merge: true }) as {
    services: Record<string, { environment?: Record<string, string> }>;
  };
  const variables = { POSTGRES_PASSWORD: "secret" };
  const { config } = loadConfig({ file: join(root, "deploy/tollgate.yaml"), variables });
  expect(config.storage).toBe("postgres://tollgate:secret@postgres/tollgate");
  for (const name of ["gateway-1", "gateway-2"]) {
    expect(Object.keys(compose.services[name]?.environment ?? {})).toContain("POSTGRES_PASSWORD");
  }
  const proxied = [...read("deploy/nginx.conf").matchAll(/server (gateway-\d):8787;/g)].map(([, name]) => name);
  expect(proxied).toEqual(Object.keys(compose.services).filter((name) => name.startsWith("gateway-")));
});

describe("tollgate health", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());

  const health = (url: string) => runCli(["health", "--url", url]);

  test("says whether a gateway takes paid calls", async () => {
    expect(await health(rig.gateway.url)).toMatchObject({ code: 0, stdout: "ready\n" });
    expect(await health(rig.simulators.site)).toMatchObject({ code: 1 });
    const gone = await health("http://127.0.0.1:9");
    expect(gone.code).toBe(1);
    expect(gone.stdout).toStartWith("not reached: ");
    expect((await health("nowhere")).stderr).toContain('--url: "nowhere" is no address');
  });
});
