/** A file that came with a call, in a form. */
export interface CallFile {
  /** The form's field, without a `[]` behind it. */
  readonly field: string;
  readonly filename: string;
  /** As the client has it. */
  readonly contentType: string | undefined;
  /** Bytes. */
  readonly size: number;
  /** How long the sound in it lasts, by the file itself; undefined where it holds none or can't be read. */
  readonly milliseconds: number | undefined;
  /** All of its bytes. */
  read(): Promise<Buffer>;
}
