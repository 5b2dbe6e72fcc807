import { z } from "@hono/zod-openapi";
import { translationCodec, translationForm } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";
import { file, partNames } from "../contract.ts";

export const translationsRoute = chargeableRoute({
  contract: {
    path: "/v1/audio/translations",
    operationId: "createTranslation",
    tag: "Audio",
    summary: "Translate audio to English.",
    form: translationForm.extend({ file }).catchall(z.string()).meta(partNames),
    streams: false,
    answers: ["text/plain"],
  },
  operations: ["translation"],
  surface: "openai",
  form: { body: translationForm, file: "file", sound: true },
  codec: translationCodec,
});
