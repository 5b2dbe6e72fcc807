/** A tool of another server with the definition that may be offered, as JSON with sorted members. */
export interface PinnedTool {
  server: string;
  /** The user with whose credentials it was seen; empty for the operator's. */
  owner: string;
  tool: string;
  definition: string;
  /** The definition that the server has instead. */
  offered: string | undefined;
  seenAt: number;
}

export interface PinStore {
  /** Those of all servers, or of one. */
  all(server?: string): Promise<PinnedTool[]>;
  of(server: string, owner: string): Promise<PinnedTool[]>;
  /** Leaves those that there are. */
  add(pins: readonly PinnedTool[]): Promise<void>;
  /** Notes the definition that the server has instead; undefined if it is the pinned one again. */
  offer(pin: PinnedTool, offered: string | undefined): Promise<void>;
}
