import { FindField, useFind } from "../../lists/find-field.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { ModelRoute } from "../../lists/types.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty } from "../../ui/states.tsx";
import { Explain } from "./explain.tsx";

const columns: readonly Column<ModelRoute>[] = [
  { header: "Name", cell: ({ id }) => <span className="font-medium">{id}</span> },
  {
    header: "Within a tier",
    cell: ({ strategy }) => strategies[strategy ?? "order"] ?? strategy,
    look: "max-md:hidden",
  },
  { header: "Asked in this order", cell: ({ tiers }) => <Tiers tiers={tiers} />, look: "whitespace-normal!" },
];

const strategies: Readonly<Record<string, string>> = {
  order: "in order",
  weighted: "by weight",
  least_busy: "the least busy first",
  least_cost: "the cheapest first",
};

function Tiers({ tiers }: Pick<ModelRoute, "tiers">) {
  return (
    <ol className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
      {tiers.map((targets, tier) => (
        <li key={targets.map(({ model }) => model).join()} className="flex flex-wrap items-center gap-1.5">
          {tier > 0 && <span className="text-muted">then</span>}
          {targets.map(({ model, weight }) => (
            <span key={model} className="rounded-md bg-sunken px-1.5 py-0.5 font-mono text-xs">
              {model}
              {weight !== undefined && weight !== 1 && <span className="text-muted"> × {weight}</span>}
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}

const example = `routing:
  routes:
    fast:
      tiers:
        - [{ model: openai/gpt-5-mini }]
        - [{ model: anthropic/claude-haiku-4-5 }]`;

/** The names that stand for several models, with the models that are asked. */
export function Page() {
  const find = useFind();
  return (
    <>
      <PageHead title="Routes" note="Names that stand for several models. The next one is asked when one fails." />
      <Explain />
      <div className="mb-4">
        <FindField label="Find a name or a model" />
      </div>
      <ListSection
        caption="Routes"
        path="/admin/v1/routes"
        columns={columns}
        idOf={({ id }) => id}
        isShown={({ id, tiers }) => `${id} ${JSON.stringify(tiers)}`.toLowerCase().includes(find)}
        empty={
          <Empty title={find === "" ? "No routes" : "No route has this"}>
            They are in the configuration, under <code>routing.routes</code>.
            <span className="mx-auto mt-4 block max-w-md text-left">
              <CodeBlock text={example} />
            </span>
          </Empty>
        }
      />
    </>
  );
}
