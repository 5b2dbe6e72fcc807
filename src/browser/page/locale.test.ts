import { expect, test } from "bun:test";
import { localeOf } from "./locale.ts";

test.each([
  [undefined, "en-US", ["en-US", "en"], "America/New_York"],
  [{ country: "DE" }, "de-DE", ["de-DE", "de"], "Europe/Berlin"],
  [{ country: "JP" }, "ja-JP", ["ja-JP", "ja"], "Asia/Tokyo"],
  [{ country: "BR" }, "pt-BR", ["pt-BR", "pt"], "America/Sao_Paulo"],
  [{ country: "CH", languages: ["fr-CH", "de"] }, "fr-CH", ["fr-CH", "de", "fr"], "Europe/Zurich"],
  [{ languages: ["es"] }, "es", ["es"], "America/New_York"],
  [{ languages: ["not a language", "en-GB"] }, "en-GB", ["en-GB", "en"], "America/New_York"],
  [{ country: "!!" }, "en-US", ["en-US", "en"], "UTC"],
])("%j", (location, locale, languages, timezoneId) => {
  expect(localeOf(location)).toEqual({ locale, languages, timezoneId });
});
