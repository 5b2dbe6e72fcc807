export { measureSound } from "./measure-sound.ts";
export { speechMediaType, type SpeechMeter, speechMeter } from "./speech-meter.ts";
