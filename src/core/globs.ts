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

/** Whether some text matches both globs. */
export function globsMeet(one: string, other: string): boolean {
  if (!one.includes("*")) return matchesGlob(other, one);
  if (!other.includes("*")) return matchesGlob(one, other);
  // Globs with a `*` match a common text if their beginnings agree and their ends do: each `*` can match the middle of the other glob.
  const [first, second] = [one, other].map((glob) => glob.slice(0, glob.indexOf("*"))) as [string, string];
  const [end, ending] = [one, other].map((glob) => glob.slice(glob.lastIndexOf("*") + 1)) as [string, string];
  return (first.startsWith(second) || second.startsWith(first)) && (end.endsWith(ending) || ending.endsWith(end));
}

/** Whether a name matches one of the globs, if there are such, and none of the exceptions behind `!`. */
export function allows(globs: readonly string[], name: string): boolean {
  if (globs.some((glob) => glob.startsWith("!") && matchesGlob(glob.slice(1), name))) return false;
  const allowed = globs.filter((glob) => !glob.startsWith("!"));
  return allowed.length === 0 || allowed.some((glob) => matchesGlob(glob, name));
}
