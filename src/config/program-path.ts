/** The folders in which programs of this machine are looked for: the variable `PATH`. */
export function programPath(): string {
  return process.env["PATH"] ?? "";
}
