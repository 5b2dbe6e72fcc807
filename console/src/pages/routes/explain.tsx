import type { SyntheticEvent } from "react";
import { useApi } from "../../api/queries.ts";
import { useChangeWords, useWords } from "../../app/search.ts";
import { type Column, ListTable } from "../../lists/list-section.tsx";
import type { ExplainedTarget, RouteExplanation } from "../../lists/types.ts";
import { Amount } from "../../money/amount.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { textIn } from "../../ui/field-text.ts";
import { MomentText } from "../../ui/moment.tsx";
import { Loaded } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";

const names = ["model", "token", "input_tokens", "output_tokens"] as const;

/** The reasons of the API as words. */
const reasons: Readonly<Record<string, string>> = {
  not_for_call: "its condition is not met",
  not_allowed: "the token may not use it",
  no_operation: "it cannot do this",
  no_key: "its provider has no key",
  disabled: "disabled",
  unpriced: "it has no price",
  unaffordable: "too few credits are left",
  left_out: "left out after failures",
  key_refused: "its provider refuses the key",
};

const columns: readonly Column<ExplainedTarget>[] = [
  { header: "Tier", cell: ({ tier }) => tier, look: "figure max-sm:hidden" },
  {
    header: "Model",
    cell: ({ model, weight }) => (
      <span className="font-mono text-xs">
        {model}
        {weight !== 1 && <span className="text-muted"> × {weight}</span>}
      </span>
    ),
  },
  { header: "Asked", cell: (target) => <Asked target={target} />, look: "whitespace-normal!" },
  { header: "After", cell: ({ on }) => on.join(", "), look: "max-md:hidden whitespace-normal!" },
  { header: "Cost", cell: ({ cost }) => cost !== null && <Amount value={cost} />, look: "figure" },
  {
    header: "Credits left",
    cell: ({ available }) => available !== null && <Amount value={available} />,
    look: "figure max-md:hidden",
  },
];

function Asked({ target: { asked, why, until, message } }: { target: ExplainedTarget }) {
  if (asked) return <Badge look="good">asked</Badge>;
  return (
    <>
      <Badge look="warn">not asked</Badge> {reasons[why ?? ""] ?? why}
      {until !== null && (
        <>
          {" until "}
          <MomentText text={until} />
        </>
      )}
      {message !== null && <span className="block text-xs text-muted">{message}</span>}
    </>
  );
}

/** Shows which models a call would go to, and why not to the others. Nothing is sent. */
export function Explain() {
  const words = useWords();
  const change = useChangeWords();
  const asked = Object.fromEntries(names.map((name) => [name, words[name]]));
  const isWanted = words["model"] !== undefined;
  const query = useApi<RouteExplanation>("/admin/v1/routes/explain", asked, { isWanted });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = textIn(event.currentTarget);
    change(Object.fromEntries(names.map((name) => [name, text(name)])));
  };
  return (
    <section aria-label="Explain a call" className="card mb-6 p-4">
      <form
        key={JSON.stringify(asked)}
        onSubmit={submit}
        className="no-print grid grid-cols-2 items-end gap-3 lg:grid-cols-[minmax(0,2fr)_minmax(0,2fr)_8rem_8rem_auto]"
      >
        <TextField label="Route or model of a call" name="model" value={words["model"] ?? ""} isRequired />
        <TextField label="Id of its token; none may do everything" name="token" value={words["token"] ?? ""} />
        <TextField
          label="Tokens in"
          name="input_tokens"
          value={words["input_tokens"] ?? ""}
          pattern="\d{1,9}"
          mode="numeric"
        />
        <TextField
          label="Tokens out"
          name="output_tokens"
          value={words["output_tokens"] ?? ""}
          pattern="\d{1,9}"
          mode="numeric"
        />
        <Button type="submit">Explain</Button>
      </form>
      {isWanted && (
        <div role="status" className="mt-4">
          <Loaded query={query}>{(explained) => <Explanation explained={explained} />}</Loaded>
        </div>
      )}
    </section>
  );
}

function Explanation({ explained }: { explained: RouteExplanation }) {
  const { targets, refused, available, over_budget: over } = explained;
  return (
    <>
      {refused !== null && <p className="mb-2 text-bad">All calls of the token are refused: {refused}.</p>}
      {available !== null && (
        <p className="mb-2 text-soft">
          <Amount value={available} /> credits are left for the token’s calls.
        </p>
      )}
      {over !== null && <p className="mb-2 text-soft">Once its credits are used up, {over} is asked.</p>}
      <ListTable caption="Targets" columns={columns} items={targets} idOf={({ tier, model }) => `${tier} ${model}`} />
    </>
  );
}
