import { moderationCodec, moderationRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const moderationsRoute = chargeableRoute({
  contract: {
    path: "/v1/moderations",
    operationId: "createModeration",
    tag: "Moderations",
    summary: "Whether texts or images are harmful, by category.",
    streams: false,
  },
  operations: ["moderation"],
  surface: "openai",
  body: moderationRequest,
  codec: moderationCodec,
});
