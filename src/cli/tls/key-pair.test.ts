import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority, selfSigned } from "../../upstream/__fixtures__/certificates.ts";
import { expiryOf, type KeyPairFiles, loadKeyPair } from "./key-pair.ts";

const { cert, key } = selfSigned({ name: "gateway", hosts: ["127.0.0.1"] });
const other = selfSigned({ name: "other" });

let folder: string;
let files: KeyPairFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-tls-"));
  files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (certText: string, keyText: string): void => {
  writeFileSync(files.cert, certText);
  writeFileSync(files.key, keyText);
};

describe("a key pair", () => {
  test("is read from its files, with the chain", async () => {
    const authority = new Authority("authority");
    const issued = authority.issue({ name: "gateway" });
    write(issued.cert + authority.cert, issued.key);
    expect(await loadKeyPair(files)).toEqual({ cert: issued.cert + authority.cert, key: issued.key });
  });

  test("expires with the server's own certificate", () => {
    const until = new Date("2031-02-03T04:05:06Z");
    expect(expiryOf(selfSigned({ name: "gateway", until }))).toEqual(until);
  });

  test.each<[string, () => void, RegExp]>([
    ["that is not there", () => undefined, /^config: server\.tls\.(cert|key): there is no file \/.*\.pem$/],
    ["without a key", () => writeFileSync(files.cert, cert), /^config: server\.tls\.key: there is no file .*key\.pem$/],
    [
      "that is a folder",
      () => {
        writeFileSync(files.key, key);
        mkdirSync(files.cert);
      },
      /^config: server\.tls\.cert: .*cert\.pem cannot be read: EISDIR$/,
    ],
    [
      "of another certificate",
      () => write(cert, other.key),
      /^config: server\.tls\.key: .* is not the key of the cert/,
    ],
    [
      "with its files exchanged",
      () => write(key, cert),
      /^config: server\.tls\.cert: .* contains no certificate in PEM/,
    ],
    ["without a certificate", () => write("", key), /^config: server\.tls\.cert: .* contains no certificate in PEM/],
    [
      "whose key is cut off",
      () => write(cert, key.slice(0, 60)),
      /^config: server\.tls\.key: .* contains no private key/,
    ],
    [
      "whose chain is cut off",
      () => write(cert + other.cert.slice(0, 200), key),
      /^config: server\.tls\.cert: .* contains no certificate in PEM/,
    ],
  ])("%s is refused, in one line with the name of the key", async (_, prepare, message) => {
    prepare();
    const refused = await loadKeyPair(files).then(
      () => "",
      ({ message: text }: Error) => text,
    );
    expect(refused).toMatch(message);
    expect(refused).not.toContain("\n");
  });
});
