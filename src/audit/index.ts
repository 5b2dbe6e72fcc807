export { type ActOptions, type Actor, AuditLog, type NoteChange } from "./audit-log.ts";
export type { AuditRow } from "./chain.ts";
