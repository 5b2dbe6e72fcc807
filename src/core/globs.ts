/** Whether `text` matches `glob`, where `*` stands for any run of characters and everything else for itself. */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  if (rest.length === 0) return glob === text;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let position = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}
