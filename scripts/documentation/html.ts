/** HTML as text. Values are escaped unless they are HTML already. */

const named: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => named[character] ?? character);
}

/** The name of an anchor for a heading: words in lower case, joined by hyphens. */
export function slugOf(heading: string): string {
  const words =
    heading
      .toLowerCase()
      .replaceAll(/['’]/g, "")
      .match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.join("-");
}
