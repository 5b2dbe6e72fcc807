/** The text of a field by its name; empty if there is no such field. */
export type FieldText = (name: string) => string;

/** The texts of a form as they are now. */
export function textIn(form: HTMLFormElement): FieldText {
  const fields = new FormData(form);
  return (name) => {
    const value = fields.get(name);
    return typeof value === "string" ? value.replaceAll("\r\n", "\n").trim() : "";
  };
}
