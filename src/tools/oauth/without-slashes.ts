/** A text without the slashes at its end; servers choose it, and an expression for them would take the square of its length. */
export function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}
