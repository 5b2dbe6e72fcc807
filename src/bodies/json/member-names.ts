/** Names of a body's own members that two readers of JSON may understand differently. */
import { z } from "zod";
import { GatewayError } from "../../core/index.ts";
import type { JsonMember } from "./scan.ts";

/**
 * Refuses two members with one name, of which the gateway's parser takes the last and an upstream's may take the first,
 * and a name that differs only in case from one that the gateway reads: Go's `encoding/json` ignores the case, so that
 * such an upstream would answer with another model than the one that is charged. Throws a 422 `GatewayError` that names
 * the member.
 *
 * @param measured Members that are read although `schema` does not contain them.
 */
export function checkMemberNames(members: readonly JsonMember[], schema: z.ZodType, measured: readonly string[]): void {
  const twice = duplicateKey(members);
  if (twice !== undefined) throw refusal(`The body has the key ${quoted(twice)} twice.`, twice);
  // Almost all bodies have only such names, and need no comparison.
  if (members.every(({ key }) => IS_FOLDED.test(key))) return;
  const names = foldedNames(schema, measured);
  for (const { key } of members) {
    const name = names.get(key) ?? names.get(folded(key)) ?? key;
    if (name !== key) throw refusal(`The key ${quoted(key)} differs only in case from ${quoted(name)}.`, key);
  }
}

/** The names of each schema by their folded forms and by themselves: Google's bodies, which have capitals, need them every time. */
const foldedOf = new WeakMap<z.ZodType, { measured: readonly string[]; names: ReadonlyMap<string, string> }>();

function foldedNames(schema: z.ZodType, measured: readonly string[]): ReadonlyMap<string, string> {
  const known = foldedOf.get(schema);
  if (known?.measured === measured) return known.names;
  const read = [...readNames(schema), ...measured];
  const names = new Map([
    ...read.map((name) => [folded(name), name] as const),
    ...read.map((name) => [name, name] as const),
  ]);
  foldedOf.set(schema, { measured, names });
  return names;
}

/** Up to this many members, comparing each with the previous ones is faster than a set. */
const FEW_MEMBERS = 8;

function duplicateKey(members: readonly JsonMember[]): string | undefined {
  if (members.length > FEW_MEMBERS) {
    const seen = new Set<string>();
    return members.find(({ key }) => seen.size === seen.add(key).size)?.key;
  }
  for (let at = 1; at < members.length; at += 1) {
    const key = members[at]?.key;
    for (let before = 0; before < at; before += 1) if (members[before]?.key === key) return key;
  }
  return undefined;
}

/** Names that are their own folded form. */
const IS_FOLDED = /^[a-z0-9_]*$/;

/** Unicode's simple folding, for the letters that matter: `ſ` and the Kelvin sign become `s` and `k`. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** The names in a body's schema. */
export function readNames(schema: z.core.$ZodType): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodPipe) return readNames(schema.in);
  throw new Error("the schema of a body must be an object");
}

/** A refusal repeats only the beginning of a long key. */
const SHOWN_CHARACTERS = 80;

const quoted = (key: string): string => JSON.stringify(key.slice(0, SHOWN_CHARACTERS));

function refusal(message: string, key: string): GatewayError {
  return new GatewayError("validation_failed", message, { param: key.slice(0, SHOWN_CHARACTERS) });
}
