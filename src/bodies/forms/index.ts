export { isForm } from "./content-type.ts";
export type { FormEdit } from "./edit-form.ts";
export type { FormPart } from "./form-part.ts";
export type { OutgoingForm } from "./outgoing-form.ts";
export { type FormLimits, readForm } from "./read-form.ts";
export type { ReceivedForm } from "./received-form.ts";
