export { measureSound } from "./measure-sound.ts";
export { speechMediaType, speechMeter } from "./speech-meter.ts";
