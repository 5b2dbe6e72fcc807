import { expect, test } from "bun:test";
import { classifyFailure, invalidAnswer, silentUpstream, unreachableUpstream } from "./classify-failure.ts";
import { type FailedAttempt, mayRepeat, repeatRules } from "./repeat-rule.ts";

const rules = {
  keyRefused: [{ statuses: [403], codes: /^invalid_key$/ }],
  quotaGone: [],
  modelGone: [],
  contextWindow: [],
  contentPolicy: [],
  retryable: [],
};

function answered(status: number, body = "{}"): FailedAttempt {
  const failure = classifyFailure(rules, { status, headers: { get: () => null }, body }, 0);
  return { failure, status, isSent: true };
}

const unanswered = (failure: FailedAttempt["failure"], isSent: boolean): FailedAttempt => ({
  failure,
  status: undefined,
  isSent,
});

/** Whether text, an image and a video may be sent again after it, to any target. */
const cases: [title: string, failed: FailedAttempt, text: boolean, image: boolean, video: boolean][] = [
  ["a failed connection", unanswered(unreachableUpstream, false), true, true, true],
  ["a cut before the reply", unanswered(unreachableUpstream, true), true, false, false],
  ["silence", unanswered(silentUpstream, true), true, false, false],
  ["silence while connecting", unanswered(silentUpstream, false), true, true, true],
  ["an invalid answer", unanswered(invalidAnswer, true), true, false, false],
  ["a client that left", unanswered("abandoned", true), false, false, false],
  ["429", answered(429), true, true, true],
  ["503", answered(503), true, true, true],
  ["500", answered(500), true, true, false],
  ["502", answered(502), true, true, false],
  ["529", answered(529), true, true, false],
  ["a refused key", answered(401), true, true, true],
  ["a key without permission", answered(403, `{"error":{"code":"invalid_key"}}`), true, true, true],
];

test.each(cases)(
  "after %s, work of each kind may be done again as its rule permits",
  (_title, failed, text, image, video) => {
    for (const operation of ["chat", "messages", "responses", "completion", "embeddings", "moderation"] as const) {
      expect([operation, mayRepeat(repeatRules[operation], failed)]).toEqual([operation, text]);
    }
    for (const operation of ["image_generation", "image_edit", "speech", "transcription", "translation"] as const) {
      expect([operation, mayRepeat(repeatRules[operation], failed)]).toEqual([operation, image]);
    }
    for (const operation of ["video_generation", "video_edit", "video_extension"] as const) {
      expect([operation, mayRepeat(repeatRules[operation], failed)]).toEqual([operation, video]);
    }
  },
);
