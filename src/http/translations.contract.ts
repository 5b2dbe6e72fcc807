import { translationForm } from "../dialects/index.ts";
import { file, proxiedRoute } from "./shared.contract.ts";

export const translationsContract = proxiedRoute({
  path: "/v1/audio/translations",
  operationId: "createTranslation",
  tag: "Audio",
  summary: "Translate audio to English.",
  form: translationForm.extend({ file }),
  streams: false,
  answers: ["text/plain"],
});
