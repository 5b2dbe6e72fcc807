/** Formulas as authors write them into a text, for a script that draws them later. */
const written =
  /\$\$([^$]{1,4000})\$\$|\$(?![\s$])([^$\n]{1,1000}?)(?<!\s)\$(?!\d)|\\\(([^\n]{1,500}?)\\\)|\\\[([^\n]{1,2000}?)\\\]/g;

/** Signs of formulas alone: a command, or a sign above or below another one. A letter alone is one too, between brackets. */
const isTex = /\\[a-zA-Z]{2,}|[\p{L}\p{N})}\]][_^]|^\s*[a-zA-Z]\s*$/u;

/**
 * Splits a text at the TeX formulas in it: every second piece is one, with the delimiters of Markdown. Their signs must not be
 * escaped.
 */
export function splitFormulas(text: string): string[] {
  if (!/\$|\\[([]/.test(text)) return [text];
  const pieces: string[] = [];
  let end = 0;
  for (const found of text.matchAll(written)) {
    const [all, ownLine, inline, bracketed, ownLineBracketed] = found;
    const tex = ownLine ?? inline ?? bracketed ?? ownLineBracketed ?? "";
    if (!isTex.test(tex)) continue;
    const isDisplay = ownLine !== undefined || ownLineBracketed !== undefined;
    pieces.push(text.slice(end, found.index), isDisplay ? `$$${tex.trim()}$$` : `$${tex.trim()}$`);
    end = found.index + all.length;
  }
  return [...pieces, text.slice(end)];
}
