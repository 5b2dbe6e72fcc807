/** The image in an event: megabytes of base64, which contains no escapes, need not be decoded to read the other members. */

export const IMAGE_FIELD = "b64_json";
const IMAGE_KEY = Buffer.from(`"${IMAGE_FIELD}"`);
const QUOTE = 0x22;

/** Where the text of the image begins and ends; undefined without one. */
function placeOf(event: Buffer): [start: number, end: number] | undefined {
  const key = event.indexOf(IMAGE_KEY);
  const start = key === -1 ? -1 : event.indexOf(QUOTE, key + IMAGE_KEY.length);
  const end = start === -1 ? -1 : event.indexOf(QUOTE, start + 1);
  return end === -1 ? undefined : [start + 1, end];
}

/** The event with its image replaced by empty text. */
export function withoutImage(event: Buffer): Buffer {
  const place = placeOf(event);
  return place === undefined ? event : Buffer.concat([event.subarray(0, place[0]), event.subarray(place[1])]);
}

/** The base64 of the image of an event; undefined without one. */
export function imageIn(event: Buffer): Buffer | undefined {
  const place = placeOf(event);
  return place && event.subarray(...place);
}
