import { expect, test } from "bun:test";
import { rateRoomOf } from "./rate-room.ts";

test.each<[string, Record<string, string>, number | undefined]>([
  [
    "OpenAI",
    {
      "x-ratelimit-limit-requests": "10000",
      "x-ratelimit-remaining-requests": "9000",
      "x-ratelimit-limit-tokens": "2000000",
      "x-ratelimit-remaining-tokens": "500000",
    },
    0.25,
  ],
  ["Anthropic", { "anthropic-ratelimit-requests-limit": "4000", "anthropic-ratelimit-requests-remaining": "0" }, 0],
  ["Mistral", { "x-ratelimit-limit-req-minute": "60", "x-ratelimit-remaining-req-minute": "59" }, 59 / 60],
  ["more than the limit", { "x-ratelimit-limit-requests": "1", "x-ratelimit-remaining-requests": "9" }, 1],
  ["no limit", { "x-ratelimit-remaining-requests": "9" }, undefined],
  ["no number", { "x-ratelimit-limit-requests": "many", "x-ratelimit-remaining-requests": "some" }, undefined],
  ["a limit of nothing", { "x-ratelimit-limit-requests": "0", "x-ratelimit-remaining-requests": "0" }, undefined],
  ["a list", { "x-ratelimit-limit": "20, 15000", "x-ratelimit-remaining": "19, 14999" }, undefined],
  ["nothing", {}, undefined],
])("the room of a key by the headers of %s", (_, headers, room) => {
  expect(rateRoomOf(new Headers(headers))).toBe(room as number);
});
