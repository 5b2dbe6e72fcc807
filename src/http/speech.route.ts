import { speechCodec, speechRequest } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { speechContract } from "./speech.contract.ts";

export const speechRoute = chargeable(speechContract, {
  operations: ["speech"],
  surface: "openai",
  body: speechRequest,
  codec: speechCodec,
});
