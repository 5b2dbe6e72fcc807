/** The ways in which an upstream may write a key that it repeats. */

const hexOf = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");
const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

/** Each way in which one character may be written. */
export const spellings: readonly ((character: string) => string)[] = [
  (character) => character,
  (character) => `\\u00${hexOf(character)}`,
  (character) => `\\\\u00${hexOf(character).toUpperCase()}`,
  (character) => (/[/"\\]/.test(character) ? `\\${character}` : character),
  (character) => `%${hexOf(character)}`,
  (character) => `%25${hexOf(character).toUpperCase()}`,
  (character) => `&#${character.charCodeAt(0)};`,
  (character) => `&#x${hexOf(character)};`,
  (character) => `&amp;#X0${hexOf(character).toUpperCase()};`,
  (character) => (names[character] === undefined ? character : `&${names[character]};`),
];

/** The key as it is, and the base64 that upstreams repeat. */
export const carriers: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  ...["", "Bearer ", ":"].flatMap((before) =>
    (["base64", "base64url"] as const).map(
      (encoding) => (secret: string) => Buffer.from(before + secret).toString(encoding),
    ),
  ),
];

/** A text with each character written in another way, in turn. */
export function spell(text: string, ways: readonly ((character: string) => string)[]): string {
  return Array.from(text, (character, at) => (ways[at % ways.length] ?? String)(character)).join("");
}
