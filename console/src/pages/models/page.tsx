import { useApi } from "../../api/queries.ts";
import { useSession } from "../../api/use-session.ts";
import type { Model } from "../../api/types.ts";
import { useChangeWords, useWords } from "../../app/search.ts";
import { FindField } from "../../lists/find-field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { Loaded } from "../../ui/states.tsx";
import { ModelTable } from "./model-table.tsx";
import { PriceList } from "./price-list.tsx";
import { UnpricedList } from "./unpriced-list.tsx";

const views = { "": "Models", prices: "Prices and their origin", unpriced: "Without a price" };

type View = keyof typeof views;

const operators = new Set(["owner", "operator", "auditor"]);

/** The models that may be called, with what they cost; for operators the origin of each price too. */
export function Page() {
  const { role } = useSession();
  const words = useWords();
  const change = useChangeWords();
  const view: View = words["view"] === "prices" || words["view"] === "unpriced" ? words["view"] : "";
  const isOperator = operators.has(role);
  return (
    <>
      <PageHead title="Models" note="Prices are credits per million tokens, if no other unit is named." />
      <div className="mb-4 flex flex-wrap items-end gap-3">
        {isOperator && (
          <SelectField
            label="Show"
            value={view}
            options={views}
            onChange={(value) => change({ view: value })}
            className="w-52"
          />
        )}
        <FindField label="Find a model" placeholder="Part of an id" />
      </div>
      {(view === "" || !isOperator) && <Models />}
      {view === "prices" && isOperator && <PriceList />}
      {view === "unpriced" && isOperator && <UnpricedList />}
    </>
  );
}

function Models() {
  const query = useApi<{ data: Model[] }>("/v1/models");
  return <Loaded query={query}>{({ data }) => <ModelTable models={data} />}</Loaded>;
}
