/** A file that was sent with a call, in a form. */
export interface CallFile {
  /** The form's field, without a trailing `[]`. */
  readonly field: string;
  readonly filename: string;
  /** As declared by the client. */
  readonly contentType: string | undefined;
  /** Bytes. */
  readonly size: number;
  /** Duration of its audio, measured from the file's bytes; undefined if it has no audio or can't be read. */
  readonly milliseconds: number | undefined;
  /** Reads all bytes. */
  read(): Promise<Buffer>;
}
