import { messagesCodec, messagesRequest } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { messagesContract } from "./messages.contract.ts";

export const messagesRoute = chargeable(messagesContract, {
  operations: ["messages", "chat"],
  surface: "anthropic",
  body: messagesRequest,
  codec: messagesCodec,
});
