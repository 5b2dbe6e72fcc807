/** Certificates created at test time, written as DER by hand: no test depends on a program that may be missing. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export interface Issued {
  key: string;
  cert: string;
}

interface Subject {
  name: string;
  /** `DNS:` names and IPv4 addresses of the certificate. */
  hosts?: readonly string[];
  isAuthority?: boolean;
  from?: Date;
  until?: Date;
}

const DAY_MS = 86_400_000;

const tag = { integer: 0x02, bits: 0x03, octets: 0x04, objectId: 0x06, text: 0x0c, time: 0x18, sequence: 0x30, set: 0x31 };
const ecdsaWithSha256 = der(tag.sequence, objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const commonName = objectId(0x55, 0x04, 0x03);
const subjectAltName = objectId(0x55, 0x1d, 0x11);
const basicConstraints = objectId(0x55, 0x1d, 0x13);
const isTrue = Buffer.from([0x01, 0x01, 0xff]);

/** A certificate authority, and its own certificate. */
export class Authority {
  readonly cert: string;
  readonly #name: string;
  readonly #keys = newKeys();

  constructor(name: string) {
    this.#name = name;
    this.cert = certificate({ name, isAuthority: true }, this.#keys.publicKey, name, this.#keys.privateKey);
  }

  issue(subject: Subject): Issued {
    const { publicKey, privateKey } = newKeys();
    return { key: pemOf(privateKey), cert: certificate(subject, publicKey, this.#name, this.#keys.privateKey) };
  }
}

/** A self-signed certificate. */
export function selfSigned(subject: Subject): Issued {
  const { publicKey, privateKey } = newKeys();
  return { key: pemOf(privateKey), cert: certificate(subject, publicKey, subject.name, privateKey) };
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" });
}

function certificate(subject: Subject, publicKey: KeyObject, issuer: string, issuerKey: KeyObject): string {
  const now = new Date().getTime();
  const { from = new Date(now - DAY_MS), until = new Date(now + DAY_MS) } = subject;
  const body = der(
    tag.sequence,
    der(0xa0, der(tag.integer, Buffer.from([2]))),
    der(tag.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer),
    der(tag.sequence, time(from), time(until)),
    nameOf(subject.name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(tag.sequence, ...extensions(subject))),
  );
  const signature = der(tag.bits, Buffer.from([0]), sign("sha256", body, issuerKey));
  const text = der(tag.sequence, body, ecdsaWithSha256, signature).toString("base64");
  return ["-----BEGIN CERTIFICATE-----", ...(text.match(/.{1,64}/g) ?? []), "-----END CERTIFICATE-----", ""].join("\n");
}

function extensions({ hosts = [], isAuthority = false }: Subject): Buffer[] {
  const names = hosts.map((host) =>
    host.startsWith("DNS:") ? der(0x82, Buffer.from(host.slice(4))) : der(0x87, Buffer.from(host.split(".").map(Number))),
  );
  const alternative = der(tag.sequence, subjectAltName, der(tag.octets, der(tag.sequence, ...names)));
  const authority = der(tag.sequence, basicConstraints, isTrue, der(tag.octets, der(tag.sequence, isTrue)));
  return [...(names.length === 0 ? [] : [alternative]), ...(isAuthority ? [authority] : [])];
}

function nameOf(name: string): Buffer {
  return der(tag.sequence, der(tag.set, der(tag.sequence, commonName, der(tag.text, Buffer.from(name)))));
}

function time(date: Date): Buffer {
  return der(tag.time, Buffer.from(date.toISOString().replaceAll(/[-:T]|\.\d+/g, "")));
}

function objectId(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function der(type: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([type, ...size]), content]);
}
