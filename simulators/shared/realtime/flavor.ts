import type { JsonObject } from "../json.ts";

/** How one provider's sessions differ from the others'. */
export interface RealtimeFlavor {
  /** The session that a connection begins with. */
  session(id: string, model: string, type: "realtime" | "transcription"): JsonObject;
  /** The event of text, without `.delta` and `.done`. */
  readonly textEvent: string;
  /** Whether responses report their usage, and the account its limits. */
  readonly reportsUsage: boolean;
  readonly reportsLimits: boolean;
  /** Whether a conversation is announced. */
  readonly announcesConversation: boolean;
}
