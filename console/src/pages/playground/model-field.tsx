import { useId } from "react";
import { useApi } from "../../api/queries.ts";
import type { Model } from "../../api/types.ts";
import { useChangeWords, useWords } from "../../app/search.ts";

interface FoundModel {
  id: string;
  /** Undefined if the token may not call such a model, or there is none. */
  model: Model | undefined;
  models: readonly Model[];
}

/** The model that the address names, else the first usual one of those for an operation. */
export function useModel(operation: string, usual: readonly string[]): FoundModel {
  const { model: word } = useWords();
  const { data } = useApi<{ data: Model[] }>("/v1/models");
  const models = (data?.data ?? []).filter(({ operations }) => operations.includes(operation));
  const first = usual.find((id) => models.some((each) => each.id === id)) ?? models[0]?.id ?? "";
  const id = word ?? first;
  return { id, model: models.find((each) => each.id === id), models };
}

/** A field for the id of a model, which offers those that there are. */
export function ModelField({ found: { id, models } }: { found: FoundModel }) {
  const change = useChangeWords();
  const list = useId();
  return (
    <label className="block">
      <span className="mb-1 block text-xs text-muted">Model</span>
      <input
        // Another model of the address is another field.
        key={id}
        name="model"
        list={list}
        defaultValue={id}
        onChange={({ target: { value } }) => {
          if (models.some((each) => each.id === value)) change({ model: value });
        }}
        onBlur={({ target: { value } }) => change({ model: value })}
        autoComplete="off"
        spellCheck={false}
        className="control w-full"
      />
      <datalist id={list}>
        {models.map((each) => (
          <option key={each.id} value={each.id} />
        ))}
      </datalist>
    </label>
  );
}
