/** A size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A picture of one colour, which is small in every format and still a real one. */
export interface Picture extends Size {
  /** Red, green, blue. */
  readonly colour: readonly [red: number, green: number, blue: number];
  /** Fully transparent, if the format supports it. */
  readonly transparent: boolean;
}

export type ImageFormat = "png" | "jpeg" | "webp";
