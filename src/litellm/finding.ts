/** How much of a field of LiteLLM arrives here. */
export type Fidelity = "exact" | "approximate" | "by hand" | "impossible";

/** The result for one field, or for one value of it. Never a secret: names of fields, of models and of variables alone. */
export interface Finding {
  /** In LiteLLM: `model_list.0.litellm_params.rpm`, or a table and a column. */
  field: string;
  fidelity: Fidelity;
  /** Its new form, or the work that is left. */
  note: string;
}

/** The usual result for a field: a row of the documentation. */
export interface ImportedFieldRule {
  fidelity: Fidelity;
  /** The key or the concept of Tollgate. */
  to: string;
}

/** Collects the findings of one import. Every field of the input is noted: by its rule, or as one that the import does not know. */
export class Findings {
  readonly all: Finding[] = [];

  note(field: string, fidelity: Fidelity, note: string): void {
    this.all.push({ field, fidelity, note });
  }

  /** Notes each member of an object by its rule, but for those in `skip`: the code that reads one of these notes it. */
  noteMembers(
    path: string,
    value: object,
    rules: Readonly<Record<string, ImportedFieldRule>>,
    skip: ReadonlySet<string>,
  ): void {
    for (const [name, member] of Object.entries(value)) {
      if (skip.has(name) || member === null || member === undefined) continue;
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
      if (rule === undefined) this.note(`${path}.${name}`, "by hand", "not known to the import");
      else this.note(`${path}.${name}`, rule.fidelity, rule.to);
    }
  }
}
