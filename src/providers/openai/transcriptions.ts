import { inAudioSteps } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { transcriptionOperation, translationOperation } from "../shared/audio/transcription-operation.ts";

/** Audio of 8.47 seconds is billed as 9 (`docs/wire/openai.md`). */
const STEP_MS = 1_000;

function inWholeSeconds(operation: UpstreamOperation): UpstreamOperation {
  return {
    ...operation,
    audioMsStep: STEP_MS,
    readUsage(answer) {
      const observed = operation.readUsage(answer);
      return observed && { ...observed, usage: inAudioSteps(observed.usage, STEP_MS) };
    },
  };
}

export const transcription = inWholeSeconds(transcriptionOperation);

export const translation = inWholeSeconds(translationOperation);
