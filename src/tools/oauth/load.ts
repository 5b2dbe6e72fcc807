/** The code of sign-ins, which is much, and needed with the first one. */
export function loadSignIns(): Promise<typeof import("./index.ts")> {
  return import("./index.ts");
}
