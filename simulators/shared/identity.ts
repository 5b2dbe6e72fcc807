import { createHash } from "node:crypto";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** 2026-01-01T00:00:00Z instead of a wall clock: the same request always gets the same `created`. */
const createdBaseSeconds = 1_767_225_600;
const daySeconds = 86_400;

/** Names derived from one request's bytes: the same request gives the same ids and times. */
export interface Identity {
  /** Unix seconds. */
  readonly created: number;
  /** `length` characters of [A-Za-z0-9], different for each label. */
  token(label: string, length: number): string;
  /** `length` lower-case hexadecimal digits (at most 64), different for each label. */
  hex(label: string, length: number): string;
  /** A UUID-shaped text, different for each label. */
  uuid(label: string): string;
  /** An integer from 0 to `below` - 1, different for each label. */
  number(label: string, below: number): number;
}

/** Builds the identity of a request from everything that shapes its answer. */
export function identityOf(...parts: readonly (string | Uint8Array)[]): Identity {
  const seed = seedOf(parts);
  const digest = (label: string): Buffer => createHash("sha256").update(seed).update(label).digest();
  const number = (label: string, below: number): number => digest(label).readUInt32BE(0) % below;
  return {
    created: createdBaseSeconds + number("created", daySeconds),
    token: (label, length) => tokenFrom(digest(label), length),
    hex: (label, length) => digest(label).toString("hex").slice(0, length),
    uuid: (label) => uuidFrom(digest(label).toString("hex")),
    number,
  };
}

function seedOf(parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest();
}

function tokenFrom(bytes: Buffer, length: number): string {
  let token = "";
  for (let index = 0; index < length; index++) {
    token += alphabet.charAt((bytes[index % bytes.length] ?? 0) % alphabet.length);
  }
  return token;
}

function uuidFrom(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
