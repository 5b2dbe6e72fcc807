/** Whether a path that is unknown here is one of Google's, whose clients read errors in its format. */
export function isGooglePath(path: string): boolean {
  return /^\/(?:v1beta\d*|v1alpha|upload)(?:\/|$)/.test(path) || googleMethod.test(path);
}

/** A method of a model, behind a colon. */
const googleMethod = /(?::|%3a)[a-z]+[A-Z]\w*$|(?::|%3a)predict$/;

/** Whether a path ends with a method of a model, as Google writes it. */
export function hasGoogleMethod(path: string): boolean {
  return googleMethod.test(path);
}

/** Google's methods that the gateway lacks, and the way to do the same here. */
const advice: readonly [RegExp, string][] = [
  [
    /^\/upload\/|^\/v1\w*\/files(?:\/|$|:)/,
    "Send files with the request (inlineData), or by an address that the gateway can fetch (fileData).",
  ],
  [/\/cachedContents/, "Send the whole prompt: providers cache its beginning by themselves."],
  [/(?::|%3a)(?:async)?batch|\/batches/i, "Send the requests one by one."],
  [/(?::|%3a)predict/i, "Images are made at /v1/images/generations, videos at /v1/videos."],
  [/\/interactions/, "Use models/{model}:generateContent."],
];

/** The advice for a path, after a space; empty if there is none. */
export function googleAdvice(path: string): string {
  if (!isGooglePath(path) && !path.endsWith("/interactions")) return "";
  const found = advice.find(([paths]) => paths.test(path));
  return found === undefined ? "" : ` ${found[1]}`;
}
