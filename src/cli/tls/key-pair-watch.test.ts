import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Issued, selfSigned } from "../../upstream/__fixtures__/certificates.ts";
import type { KeyPair } from "./key-pair.ts";
import { KeyPairWatch } from "./key-pair-watch.ts";

const [first, second, third] = ["first", "second", "third"].map((name) => selfSigned({ name })) as [
  Issued,
  Issued,
  Issued,
];
const pairOf = ({ cert, key }: Issued): KeyPair => ({ cert, key });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-watch-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const files = () => ({ cert: join(folder, "cert.pem"), key: join(folder, "key.pem") });

/** Writes the file beside its place first, as certbot and others do. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** A watch of the files, from the first pair on. */
function watchFirst(onChange?: (pair: KeyPair) => void) {
  const changes: KeyPair[] = [];
  const log: unknown[] = [];
  const watch = new KeyPairWatch({
    files: files(),
    pair: pairOf(first),
    logger: {
      info: (_, message) => log.push(message),
      error: (fields, message) => log.push(`${message}: ${JSON.stringify(fields)}`),
    },
    onChange(pair) {
      onChange?.(pair);
      changes.push(pair);
    },
  });
  const look = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) await watch.look();
  };
  return { changes, log, look };
}

describe("a watched pair", () => {
  test("is taken once when its files are renamed into their places, one after the other", async () => {
    writeFileSync(files().cert, first.cert);
    writeFileSync(files().key, first.key);
    const { changes, log, look } = watchFirst();
    await look(2);
    replace(files().cert, second.cert);
    await look();
    replace(files().key, second.key);
    await look(3);
    expect(changes).toEqual([pairOf(second)]);
    expect(log).toEqual(["certificate replaced"]);
  });

  test("is taken when a link to its folder is turned, as Kubernetes does it", async () => {
    for (const [name, issued] of [["one", first] as const, ["two", second] as const]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "cert.pem"), issued.cert);
      writeFileSync(join(folder, name, "key.pem"), issued.key);
    }
    symlinkSync("one", join(folder, "..data"));
    for (const name of ["cert.pem", "key.pem"]) symlinkSync(`..data/${name}`, join(folder, name));
    const { changes, look } = watchFirst();
    await look();
    symlinkSync("two", join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    await look();
    expect(changes).toEqual([pairOf(second)]);
  });

  test("that doesn't fit or is gone is logged once, and the next one that fits is taken", async () => {
    writeFileSync(files().cert, second.cert);
    writeFileSync(files().key, first.key);
    const { changes, log, look } = watchFirst();
    await look(5);
    expect(log).toEqual([expect.stringContaining("is not the key of the certificate")]);
    rmSync(files().cert);
    await look(5);
    expect(log.slice(1)).toEqual([expect.stringContaining("there is no file")]);
    expect(changes).toEqual([]);
    replace(files().cert, third.cert);
    replace(files().key, third.key);
    await look(2);
    expect(changes).toEqual([pairOf(third)]);
    expect(log.slice(2)).toEqual(["certificate replaced"]);
  });

  test("that no server can take is tried again", async () => {
    let tries = 0;
    const { changes, log, look } = watchFirst(() => {
      tries += 1;
      if (tries < 4) throw new Error("the port cannot be bound");
    });
    writeFileSync(files().cert, second.cert);
    writeFileSync(files().key, second.key);
    await look(5);
    expect([tries, changes]).toEqual([4, [pairOf(second)]]);
    expect(log).toEqual([expect.stringContaining("the port cannot be bound"), "certificate replaced"]);
  });
});
