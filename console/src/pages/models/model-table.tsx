import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Model } from "../../api/types.ts";
import { useFind } from "../../lists/find-field.tsx";
import { Nothing } from "../../lists/cells.tsx";
import { type Column, ListTable } from "../../lists/list-section.tsx";
import { Amount, Count } from "../../money/amount.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/states.tsx";
import { costOf } from "./cost.ts";
import { priceNames, type PriceKey } from "./price-names.ts";

const ROWS = 100;

const figure = "figure max-sm:hidden";

function columnsFor(input: number, output: number): readonly Column<Model>[] {
  return [
    {
      header: "Model",
      cell: ({ id, operations }) =>
        operations.includes("chat") ? (
          <Link
            to={`/playground?model=${encodeURIComponent(id)}`}
            className="font-medium underline decoration-line-strong underline-offset-4 hover:decoration-current"
          >
            {id}
          </Link>
        ) : (
          <span className="font-medium">{id}</span>
        ),
      look: "max-sm:whitespace-normal! max-sm:[overflow-wrap:anywhere]",
    },
    {
      header: "Operations",
      cell: ({ operations }) => operations.join(", "),
      look: "max-lg:hidden text-soft max-w-72 truncate",
    },
    {
      header: "Context",
      cell: ({ context_length: length }) => (length === null ? <Nothing /> : <Count value={length} />),
      look: "figure max-xl:hidden",
    },
    { header: "Input", cell: ({ pricing }) => <PriceCell price={pricing?.["input_mtok"]} />, look: figure },
    { header: "Output", cell: ({ pricing }) => <PriceCell price={pricing?.["output_mtok"]} />, look: figure },
    {
      header: "Other prices",
      cell: ({ pricing }) => <OtherPrices prices={pricing ?? {}} />,
      look: "max-2xl:hidden text-soft text-xs whitespace-normal!",
    },
    {
      header: "Such a call",
      cell: (model) => <CallCost model={model} input={input} output={output} />,
      look: "figure",
    },
  ];
}

function PriceCell({ price }: { price: unknown }) {
  return typeof price === "number" ? <Amount value={price} /> : <Nothing />;
}

function OtherPrices({ prices }: { prices: Readonly<Record<string, unknown>> }) {
  const others = Object.entries(prices).filter(
    ([key, price]) => key !== "input_mtok" && key !== "output_mtok" && typeof price === "number",
  );
  if (others.length === 0) return <Nothing />;
  return others.map(([key, price]) => `${priceNames[key as PriceKey] ?? key} ${String(price)}`).join(" · ");
}

function CallCost({ model, input, output }: { model: Model; input: number; output: number }) {
  const cost = costOf(model.pricing, input, output);
  return cost === undefined ? <Nothing /> : <Amount value={cost} />;
}

/** The models whose ids have the text that is looked for, with the cost of a call of some size. */
export function ModelTable({ models }: { models: readonly Model[] }) {
  const find = useFind();
  const [tokens, setTokens] = useState({ input: 1_000, output: 500 });
  const [rows, setRows] = useState(ROWS);
  const found = models.filter(({ id, operations }) => `${id} ${operations.join(" ")}`.toLowerCase().includes(find));
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <TokensField
          label="Input tokens of a call"
          value={tokens.input}
          change={(input) => setTokens({ ...tokens, input })}
        />
        <TokensField
          label="Output tokens"
          value={tokens.output}
          change={(output) => setTokens({ ...tokens, output })}
        />
        <p role="status" className="pb-1.5 text-muted">
          <Count value={found.length} /> models
        </p>
      </div>
      {found.length === 0 ? (
        <Empty title="No model has this in its id" />
      ) : (
        <ListTable
          caption="Models"
          columns={columnsFor(tokens.input, tokens.output)}
          items={found.slice(0, rows)}
          idOf={({ id }) => id}
        />
      )}
      {found.length > rows && (
        <div className="mt-4 text-center">
          <Button onClick={() => setRows(rows + ROWS)}>Show more</Button>
        </div>
      )}
    </>
  );
}

function TokensField({ label, value, change }: { label: string; value: number; change: (value: number) => void }) {
  return (
    <label className="block">
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <input
        type="number"
        min={0}
        max={10_000_000}
        step={1}
        value={value}
        onChange={({ target }) => change(Math.max(0, Math.trunc(target.valueAsNumber) || 0))}
        className="control figures w-36"
      />
    </label>
  );
}
