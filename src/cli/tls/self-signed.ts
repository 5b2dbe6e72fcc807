/** The key pair of `serve --sandbox --tls`, which its clients trust by its file. */
import { X509Certificate } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { type KeyPairFiles, loadKeyPair } from "./key-pair.ts";

const DAY_MS = 86_400_000;

/** What Apple's clients accept at most is 825 days, other clients a year and a month. */
const VALID_MS = 397 * DAY_MS;
/** A pair that expires sooner is replaced at the start. */
const LEFT_MS_MIN = 30 * DAY_MS;

/** Addresses that stand for all of the machine's: a client uses another one. */
const everyAddress = new Set(["0.0.0.0", "::", ""]);

/** The files of a pair in a folder, for this address and the machine's own. They are made unless those there will do. */
export async function selfSignedPair(folder: string, host: string): Promise<KeyPairFiles> {
  const files = { cert: join(folder, "tls-cert.pem"), key: join(folder, "tls-key.pem") };
  const hosts = [...new Set(["localhost", "127.0.0.1", "::1", ...(everyAddress.has(host) ? [] : [host])])];
  if (!(await isUsable(files, hosts))) await makePair(files, hosts, folder);
  return files;
}

async function isUsable(files: KeyPairFiles, hosts: readonly string[]): Promise<boolean> {
  if (!existsSync(files.cert)) return false;
  try {
    const certificate = new X509Certificate((await loadKeyPair(files)).cert);
    const isLasting = Date.parse(certificate.validTo) - Date.now() > LEFT_MS_MIN;
    return isLasting && hosts.every((host) => covers(certificate, host));
  } catch {
    return false;
  }
}

function covers(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}

async function makePair(files: KeyPairFiles, hosts: readonly string[], folder: string): Promise<void> {
  // Loaded here: no other start needs it.
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const now = Date.now();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=Tollgate sandbox",
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + VALID_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      // It is not a certificate authority: a client that trusts this certificate trusts no other one because of it.
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value })),
      ),
    ],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  mkdirSync(folder, { recursive: true });
  write(files.key, key, 0o600);
  write(files.cert, certificate.toString("pem"), 0o644);
}

/** Replaces a file by renaming a temporary one, so that another process reads the old content or the new one, never a part. */
function write(path: string, pem: string, mode: number): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${pem.trim()}\n`, { mode });
  chmodSync(temporary, mode);
  renameSync(temporary, path);
}
