/** As in RFC 5424, the least important first. */
const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export type LogLevel = (typeof logLevels)[number];

export function logLevelOf(value: unknown): LogLevel | undefined {
  return logLevels.find((level) => level === value);
}

/** Whether a message of this level passes if the client wants those from another level on. */
export function isLogged(level: LogLevel, from: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(from);
}
