import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../../upstream/__fixtures__/certificates.ts";
import { selfSignedPair } from "./self-signed.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "tollgate-self-")), "data");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const certificateIn = (): string => readFileSync(join(folder, "tls-cert.pem"), "utf8");

describe("a self-signed pair", () => {
  test("is for this machine and the address, is no authority, and its key is for its owner only", async () => {
    const files = await selfSignedPair(folder, "gateway.test");
    expect(files).toEqual({ cert: join(folder, "tls-cert.pem"), key: join(folder, "tls-key.pem") });
    const certificate = new X509Certificate(certificateIn());
    expect(certificate.ca).toBe(false);
    expect(certificate.subjectAltName).toBe(
      "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:gateway.test",
    );
    expect(statSync(files.key).mode & 0o777).toBe(0o600);
  });

  test("stays, so that clients need not be told again", async () => {
    await selfSignedPair(folder, "127.0.0.1");
    const made = certificateIn();
    for (const host of ["127.0.0.1", "0.0.0.0", "::", "localhost"]) await selfSignedPair(folder, host);
    expect(certificateIn()).toBe(made);
  });

  test.each<[string, () => void, string]>([
    ["it is not for the address", () => undefined, "10.1.2.3"],
    ["its key is another's", () => writeFileSync(join(folder, "tls-key.pem"), selfSigned({ name: "x" }).key), "::1"],
    ["its file is broken", () => writeFileSync(join(folder, "tls-cert.pem"), "nothing"), "::1"],
    [
      "it expires soon",
      () => {
        const { cert, key } = selfSigned({ name: "x", hosts: ["DNS:localhost", "127.0.0.1"] });
        writeFileSync(join(folder, "tls-cert.pem"), cert);
        writeFileSync(join(folder, "tls-key.pem"), key);
      },
      "localhost",
    ],
  ])("is replaced if %s", async (_, change, host) => {
    await selfSignedPair(folder, "127.0.0.1");
    change();
    const before = certificateIn();
    await selfSignedPair(folder, host);
    expect(certificateIn()).not.toBe(before);
    const made = certificateIn();
    await selfSignedPair(folder, host);
    expect(certificateIn()).toBe(made);
  });
});
