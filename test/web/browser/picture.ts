/** The facts in the head of a picture. */
export interface Picture {
  format: "png" | "jpeg";
  width: number;
  height: number;
}

export function pictureOf(bytes: Uint8Array): Picture {
  const view = Buffer.from(bytes);
  if (view.toString("latin1", 0, 8) === "\x89PNG\r\n\x1a\n") {
    return { format: "png", width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
  }
  if (view.readUInt16BE(0) !== 0xff_d8) throw new Error("neither a PNG nor a JPEG");
  // Segments: a marker, and its length. The frame's header has the size.
  for (let at = 2; at < view.length; at += 2 + view.readUInt16BE(at + 2)) {
    const marker = view.readUInt16BE(at);
    const isFrame = marker >= 0xff_c0 && marker <= 0xff_cf && ![0xff_c4, 0xff_c8, 0xff_cc].includes(marker);
    if (isFrame) return { format: "jpeg", width: view.readUInt16BE(at + 7), height: view.readUInt16BE(at + 5) };
  }
  throw new Error("a JPEG without a frame");
}
