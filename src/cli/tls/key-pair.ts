import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { ConfigError } from "../../config/index.ts";

/** The paths of a certificate with its chain, the server's own first, and of its private key, both in PEM. */
export interface KeyPairFiles {
  cert: string;
  key: string;
}

/** The contents of these files. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Files, and what was in them when they were read last and fitted together. */
export interface KeyPairInUse {
  files: KeyPairFiles;
  pair: KeyPair;
}

/** Reads the files; rejects with the reason, one line. */
export async function readKeyPair({ cert, key }: KeyPairFiles): Promise<KeyPair> {
  const [certText, keyText] = await Promise.all([readPem("cert", cert), readPem("key", key)]);
  return { cert: certText, key: keyText };
}

/** Reads the files and checks that they fit together. Rejects with a `ConfigError`. */
export async function loadKeyPair(files: KeyPairFiles): Promise<KeyPair> {
  const pair = await readKeyPair(files);
  checkKeyPair(pair, files);
  return pair;
}

/** Throws a `ConfigError` if no server can use the pair. */
export function checkKeyPair(pair: KeyPair, files: KeyPairFiles): void {
  const certificate = parse("cert", files, () => new X509Certificate(pair.cert));
  const key = parse("key", files, () => createPrivateKey(pair.key));
  if (!certificate.checkPrivateKey(key))
    throw problem("key", `${files.key} is not the key of the certificate ${files.cert}`);
  // The rest of the chain.
  parse("cert", files, () => createSecureContext(pair));
}

/** When the server's own certificate of a pair expires. */
export function expiryOf({ cert }: Pick<KeyPair, "cert">): Date {
  return new Date(new X509Certificate(cert).validTo);
}

function problem(member: keyof KeyPairFiles, text: string): ConfigError {
  return new ConfigError(`server.tls.${member}`, text);
}

async function readPem(member: keyof KeyPairFiles, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw problem(member, code === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read: ${code}`);
  }
}

function parse<T>(member: keyof KeyPairFiles, files: KeyPairFiles, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const what = member === "cert" ? "certificate" : "private key without a password";
    throw problem(member, `${files[member]} contains no ${what} in PEM: ${reason}`);
  }
}
