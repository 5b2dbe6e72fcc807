import { translationCodec, translationForm } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { translationsContract } from "./translations.contract.ts";

export const translationsRoute = chargeable(translationsContract, {
  operations: ["translation"],
  surface: "openai",
  form: { body: translationForm, file: "file", sound: true },
  codec: translationCodec,
});
