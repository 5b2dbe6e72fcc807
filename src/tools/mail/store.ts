/** A message from one process to another. */
export interface Letter {
  id: string;
  /** The process that reads it. */
  recipient: string;
  sealed: string;
  writtenAt: number;
}

export interface LetterStore {
  add(letter: Letter): Promise<void>;
  /** Deletes the oldest letters to a process and returns them, in any order. */
  take(recipient: string, limit: number): Promise<Letter[]>;
  deleteTo(recipient: string): Promise<void>;
  deleteBefore(time: number): Promise<void>;
}
