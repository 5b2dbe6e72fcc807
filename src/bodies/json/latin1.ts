/** Decodes text that was read as Latin-1: each character of `text` is one of its bytes in UTF-8. */
export function utf8FromLatin1(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text, "latin1").toString("utf8") : text;
}
