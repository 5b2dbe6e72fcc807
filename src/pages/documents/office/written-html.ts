/** Whether a link of a document leads to something for its readers: no script, and no part of the document. */
export function isLinkable(address: string): boolean {
  return /^(?:https?|mailto):/i.test(address);
}

/** The notes of a document, as HTML, at its end. */
export function notesHtml(notes: readonly string[]): string {
  return notes.length === 0 ? "" : `<hr><ol>${notes.map((note) => `<li>${note}</li>`).join("")}</ol>`;
}

/** What stands for the note of this number in the text. */
export function noteMark(number: number): string {
  return `<sup>[${number}]</sup>`;
}
