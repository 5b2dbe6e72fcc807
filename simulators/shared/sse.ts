/** One thing written into an event stream: an event, or a comment line that clients must skip. */
export type Frame = { readonly data: string; readonly event?: string } | { readonly comment: string };

/** The line that ends the chat streams of the OpenAI family. */
export const doneFrame: Frame = { data: "[DONE]" };

/** A data-only event holding one JSON value. */
export function jsonFrame(value: unknown): Frame {
  return { data: JSON.stringify(value) };
}

/** An event that is named after the `type` of its data. */
export function namedFrame(data: { readonly type: string; readonly [member: string]: unknown }): Frame {
  return { event: data.type, data: JSON.stringify(data) };
}

/** Renders a frame with the given line end, the closing blank line included. */
export function renderFrame(frame: Frame, lineEnd: "\n" | "\r\n"): string {
  if ("comment" in frame) return `: ${frame.comment}${lineEnd}${lineEnd}`;
  const name = frame.event === undefined ? "" : `event: ${frame.event}${lineEnd}`;
  return `${name}data: ${frame.data}${lineEnd}${lineEnd}`;
}
