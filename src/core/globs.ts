/** Whether `text` matches `glob`. A `*` matches any run of characters; every other character matches itself. */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = "", ...parts] = glob.split("*");
  if (parts.length === 0) return glob === text;
  if (!text.startsWith(first)) return false;
  const last = parts.pop() ?? "";
  let position = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}
