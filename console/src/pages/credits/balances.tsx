import { Link } from "@tanstack/react-router";
import { Nothing } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import { Amount } from "../../money/amount.tsx";
import { Empty } from "../../ui/states.tsx";
import type { Payer } from "./types.ts";

const EVERY_MS = 30_000;

function MaybeAmount({ value }: { value: number | null }) {
  return value === null ? <Nothing /> : <Amount value={value} />;
}

/** The columns of payers whose entries are found by a word of the API. */
function columnsFor(word: "organisation" | "user"): readonly Column<Payer>[] {
  return [
    {
      header: word === "organisation" ? "Organisation" : "User",
      cell: ({ name }) => (
        <Link
          to={`/credits?${word}=${encodeURIComponent(name)}`}
          className="font-medium underline decoration-line-strong underline-offset-4 hover:decoration-current"
        >
          {name}
        </Link>
      ),
    },
    { header: "Balance", cell: ({ balance }) => <MaybeAmount value={balance} />, look: "figure max-sm:hidden" },
    { header: "Held", cell: ({ held }) => <MaybeAmount value={held} />, look: "figure max-md:hidden" },
    { header: "Available", cell: ({ available }) => <MaybeAmount value={available} />, look: "figure font-medium" },
    { header: "Spent in the period", cell: ({ spend }) => <Amount value={spend} />, look: "figure max-lg:hidden" },
    { header: "Limit", cell: (payer) => <Limit payer={payer} />, look: "figure max-lg:hidden" },
  ];
}

function Limit({ payer: { max_budget: limit, period } }: { payer: Payer }) {
  if (limit === null) return <Nothing />;
  return (
    <>
      <Amount value={limit} /> {period !== null && <span className="text-muted">{period}</span>}
    </>
  );
}

const ofOrganisations = columnsFor("organisation");
const ofUsers = columnsFor("user");

/** The balances of organisations, and of users who belong to none. */
export function Balances() {
  return (
    <>
      <ListSection
        caption="Organisations"
        isTitled
        path="/admin/v1/organisations"
        columns={ofOrganisations}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        empty={<Empty title="No organisation">Users without one pay for themselves.</Empty>}
      />
      <ListSection
        caption="Users who pay for themselves"
        isTitled
        path="/admin/v1/users"
        columns={ofUsers}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        isShown={({ organisation }: Payer) => organisation === null}
        empty={<Empty title="None below">All of these users belong to an organisation, which pays.</Empty>}
      />
    </>
  );
}
