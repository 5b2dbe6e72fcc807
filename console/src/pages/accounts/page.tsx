import { useSession } from "../../api/use-session.ts";
import type { Role } from "../../api/types.ts";
import { useChangeWords, useWords } from "../../app/search.ts";
import { FindField } from "../../lists/find-field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { AccountForm } from "./account-form.tsx";
import { NewBudget } from "./budget-form.tsx";
import { Budgets } from "./budgets.tsx";
import { NamedAccounts } from "./named-accounts.tsx";
import { may } from "./rights.ts";
import { NewToken } from "./token-form.tsx";
import { PeopleFile } from "./people-file.tsx";
import { Tokens } from "./tokens.tsx";

const views = {
  tokens: "Tokens",
  users: "Users",
  projects: "Projects",
  organisations: "Organisations",
  budgets: "Budgets",
};

type View = keyof typeof views;

const readers = new Set(["owner", "billing", "auditor", "organisation_admin"]);

/** Tokens, users, projects and organisations in the user's reach. */
export function Page() {
  const { role } = useSession();
  const words = useWords();
  const change = useChangeWords();
  // Who reads no accounts of others has tokens, and the projects that they are a member of.
  const offered = readers.has(role) ? views : { tokens: views.tokens, projects: views.projects };
  const word = words["view"] ?? "";
  const view: View = word in offered ? (word as View) : "tokens";
  return (
    <>
      <PageHead
        title="Accounts"
        note="Who may call, with which limits, and what they have spent."
        actions={<Makes view={view} role={role} />}
      />
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <SelectField
          label="Show"
          value={view}
          options={offered}
          onChange={(value) => change({ view: value })}
          className="w-44"
        />
        <FindField label="Find in the rows below" placeholder="A name or an id" />
      </div>
      <Rows view={view} />
    </>
  );
}

function Rows({ view }: { view: View }) {
  if (view === "tokens") return <Tokens />;
  return view === "budgets" ? <Budgets /> : <NamedAccounts key={view} kind={view} />;
}

/** The buttons that make what the view shows. */
function Makes({ view, role }: { view: View; role: Role }) {
  if (view === "tokens") return <NewToken />;
  if (!may(role, "make", view)) return null;
  if (view === "budgets") return <NewBudget />;
  return (
    <>
      {view === "users" && <PeopleFile />}
      <AccountForm key={view} kind={view} />
    </>
  );
}
