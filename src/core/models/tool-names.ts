const letters = /^[a-zA-Z0-9_-]+$/;

/** Whether providers take a tool's name: at most `max` letters, digits, `_` and `-`. */
export function fitsToolName(name: string, max: number): boolean {
  return name.length <= max && letters.test(name);
}
