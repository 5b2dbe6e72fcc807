/** A size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A picture of one colour, which is small in every format and still a real one. */
export interface Picture extends Size {
  /** Red, green, blue. */
  readonly colour: readonly [red: number, green: number, blue: number];
  /** Nothing to see at all, where the format can say so. */
  readonly transparent: boolean;
}

export type ImageFormat = "png" | "jpeg" | "webp";
