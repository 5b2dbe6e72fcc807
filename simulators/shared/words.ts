/** Splits text into the pieces of a stream: one word each, the white space before it kept. */
export function textPieces(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
}

/** Words are output tokens. */
export function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** The first `count` words with the white space between them. */
export function firstWords(text: string, count: number): string {
  if (count <= 0) return "";
  if (!Number.isFinite(count)) return text.trim();
  const words = /\S+/g;
  let end = 0;
  for (let found = 0; found < count; found++) {
    const match = words.exec(text);
    if (match === null) break;
    end = match.index + match[0].length;
  }
  return text.slice(0, end).trimStart();
}
