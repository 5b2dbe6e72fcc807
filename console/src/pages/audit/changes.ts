type State = Readonly<Record<string, unknown>>;

export interface Change {
  field: string;
  /** Undefined if the field was not there before. */
  from: string | undefined;
  /** Undefined if the field is not there any more. */
  to: string | undefined;
}

/** The fields whose values differ, in the order in which the later state names them. */
export function changesOf(before: State | null, after: State | null): Change[] {
  const fields = new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})]);
  return [...fields].flatMap((field) => {
    const change = { field, from: textOf(before?.[field]), to: textOf(after?.[field]) };
    // A field that is made without a value is none.
    return (change.from ?? "null") === (change.to ?? "null") ? [] : [change];
  });
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
