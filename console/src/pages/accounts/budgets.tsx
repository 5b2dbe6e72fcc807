import { useQueryClient } from "@tanstack/react-query";
import { send } from "../../api/client.ts";
import { useSession } from "../../api/use-session.ts";
import { MaybeMoment, Nothing } from "../../lists/cells.tsx";
import { useFind } from "../../lists/find-field.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import { Amount } from "../../money/amount.tsx";
import { Ask } from "../../ui/ask.tsx";
import { Button } from "../../ui/button.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Empty } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { BudgetBar } from "./budget-bar.tsx";
import { minuteOf } from "./account-changes.ts";
import { budgetChanges, budgetTexts } from "./budget-changes.ts";
import { BudgetFields, type Owner, owners, RaiseFields } from "./budget-form.tsx";
import { may, mayChangeBudget } from "./rights.ts";
import type { Budget } from "./types.ts";

const PATH = "/admin/v1/budgets";

const ownerOf = ({ organisation, user, project, token }: Budget): string =>
  organisation ?? user ?? project ?? token ?? "";

const kindOf = (budget: Budget): string =>
  Object.entries(owners).find(([kind]) => budget[kind as Owner] !== null)?.[1] ?? "";

const columns: readonly Column<Budget>[] = [
  {
    header: "Whose",
    cell: (budget) => (
      <>
        <span className="block font-medium [overflow-wrap:anywhere]">{ownerOf(budget)}</span>
        <span className="text-xs text-muted">{kindOf(budget)}</span>
      </>
    ),
  },
  { header: "Models", cell: ({ models }) => models ?? "all", look: "max-sm:hidden" },
  {
    header: "Spent",
    cell: ({ spend, max_budget: limit, period, raise }) => (
      <>
        <BudgetBar spend={spend} limit={limit} period={period} />
        {raise !== null && (
          <span className="text-xs text-muted">
            <Amount value={raise.by} /> more until {minuteOf(raise.until).replace("T", " ")} UTC
          </span>
        )}
      </>
    ),
    look: "figure",
  },
  { header: "Begins anew", cell: ({ period_reset_at: reset }) => <MaybeMoment text={reset} />, look: "max-lg:hidden" },
];

/** The budgets in the user's reach, beside the limit that each account has of its own. */
export function Budgets() {
  const { role } = useSession();
  const find = useFind();
  const acts: Column<Budget> = { header: "Acts", cell: (budget) => <Acts budget={budget} /> };
  return (
    <ListSection
      caption="Budgets"
      path={PATH}
      columns={may(role, "change", "budgets") ? [...columns, acts] : columns}
      idOf={({ id }) => id}
      isShown={(budget) => `${budget.id} ${ownerOf(budget)} ${budget.models}`.toLowerCase().includes(find)}
      empty={
        <Empty title={find === "" ? "No budget" : "No budget below has this"}>
          A budget limits the credits of an account in a period, for all models or for a group of them.
        </Empty>
      }
    />
  );
}

function Acts({ budget }: { budget: Budget }) {
  const client = useQueryClient();
  const { role } = useSession();
  if (!mayChangeBudget(role, budget)) return <Nothing />;
  const label = ownerOf(budget);
  const address = `${PATH}/${encodeURIComponent(budget.id)}`;
  return (
    <span className="flex gap-2 max-sm:flex-col">
      <FormDialog
        key={JSON.stringify(budget)}
        word="Change"
        label={`Change the budget of ${label}`}
        title={`Change the budget of ${label}`}
        confirm="Save"
        act={(text) => {
          const body = budgetChanges(text, budget);
          return send(address, { method: "PATCH", body, reason: text("reason") });
        }}
      >
        <BudgetFields before={budgetTexts(budget)} />
        <RaiseFields before={budgetTexts(budget)} />
        <TextField label="Reason, for the audit log" name="reason" />
      </FormDialog>
      <Ask
        trigger={<Button aria-label={`Delete the budget of ${label}`}>Delete</Button>}
        title={`Delete the budget of ${label}?`}
        confirm="Delete"
        isDangerous
        act={async (reason) => {
          await send(address, { method: "DELETE", reason });
          await client.invalidateQueries({ queryKey: ["list"] });
        }}
      >
        Its calls are no longer limited by it. Other limits stay.
      </Ask>
    </span>
  );
}
