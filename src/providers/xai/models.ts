import { documentedModels, openaiModelList } from "../shared/model-list.ts";

/** Voices are not models in xAI's list; these names have a price (`docs/wire/xai.md`). */
const VOICE_IDS = ["grok-tts", "grok-stt", "grok-voice-latest"];

export const models = openaiModelList("/models", documentedModels("xai", VOICE_IDS));
