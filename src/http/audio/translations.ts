import { translationCodec, translationForm } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";
import { file } from "../contract.ts";

export const translationsRoute = chargeableRoute({
  contract: {
    path: "/v1/audio/translations",
    operationId: "createTranslation",
    tag: "Audio",
    summary: "Translate audio to English.",
    form: translationForm.extend({ file }),
    streams: false,
    answers: ["text/plain"],
  },
  operations: ["translation"],
  surface: "openai",
  form: { body: translationForm, file: "file", sound: true },
  codec: translationCodec,
});
