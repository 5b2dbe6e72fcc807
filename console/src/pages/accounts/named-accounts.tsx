import { useQueryClient } from "@tanstack/react-query";
import { send } from "../../api/client.ts";
import { useSession } from "../../api/use-session.ts";
import { Nothing } from "../../lists/cells.tsx";
import { useFind } from "../../lists/find-field.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import { Amount } from "../../money/amount.tsx";
import { Ask } from "../../ui/ask.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { Empty } from "../../ui/states.tsx";
import { AccountForm } from "./account-form.tsx";
import { BudgetBar } from "./budget-bar.tsx";
import { may } from "./rights.ts";
import type { AccountKind, NamedAccount } from "./types.ts";

const words: Readonly<Record<AccountKind, { one: string; caption: string }>> = {
  users: { one: "user", caption: "Users" },
  projects: { one: "project", caption: "Projects" },
  organisations: { one: "organisation", caption: "Organisations" },
};

const name: Column<NamedAccount> = {
  header: "Name",
  cell: (account) => <span className="block max-w-56 font-medium max-sm:max-w-32">{account.name}</span>,
  look: "whitespace-normal! [overflow-wrap:anywhere]",
};
const organisation: Column<NamedAccount> = {
  header: "Organisation",
  cell: (account) => account.organisation ?? <Nothing />,
  look: "max-sm:hidden",
};

const own: Readonly<Record<AccountKind, readonly Column<NamedAccount>[]>> = {
  users: [name, organisation, { header: "Role", cell: ({ role }) => role, look: "max-md:hidden" }],
  projects: [
    name,
    organisation,
    { header: "Members", cell: ({ members = [] }) => members.join(", "), look: "max-lg:hidden max-w-64 truncate" },
  ],
  organisations: [name],
};

const common: readonly Column<NamedAccount>[] = [
  {
    header: "State",
    cell: ({ disabled }) => <Badge look={disabled ? "warn" : "good"}>{disabled ? "disabled" : "enabled"}</Badge>,
  },
  {
    header: "Balance",
    cell: ({ balance }) => (balance === null ? <Nothing /> : <Amount value={balance} />),
    look: "figure max-md:hidden",
  },
  {
    header: "Spent",
    cell: ({ spend, max_budget: limit, period }) => <BudgetBar spend={spend} limit={limit} period={period} />,
    look: "figure max-md:hidden",
  },
  { header: "Made", cell: ({ created_at }) => <MomentText text={created_at} />, look: "max-2xl:hidden" },
];

/** Users, projects or organisations, which can be disabled and enabled. */
export function NamedAccounts({ kind }: { kind: AccountKind }) {
  const { role } = useSession();
  const find = useFind();
  const { caption } = words[kind];
  const acts: Column<NamedAccount> = { header: "Acts", cell: (account) => <Acts kind={kind} account={account} /> };
  return (
    <ListSection
      caption={caption}
      path={`/admin/v1/${kind}`}
      columns={[...own[kind], ...common, ...(may(role, "change", kind) ? [acts] : [])]}
      idOf={({ id }) => id}
      isShown={(account) => `${account.id} ${account.name} ${account.organisation ?? ""}`.toLowerCase().includes(find)}
      empty={
        <Empty title={find === "" ? "None yet" : "None below has this"} {...(find === "" && { curl: curlOf(kind) })} />
      }
    />
  );
}

function curlOf(kind: AccountKind): string {
  return `curl -s ${location.origin}/admin/v1/${kind} \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ name: "acme" })}'`;
}

function Acts({ kind, account }: { kind: AccountKind; account: NamedAccount }) {
  const { role } = useSession();
  return (
    <span className="flex gap-2 max-sm:flex-col">
      <AccountForm key={JSON.stringify(account)} kind={kind} account={account} />
      {may(role, "disable", kind) && <Switch kind={kind} account={account} />}
      {may(role, "delete", kind) && <Delete kind={kind} account={account} />}
    </span>
  );
}

function Switch({ kind, account: { id, name: label, disabled } }: { kind: AccountKind; account: NamedAccount }) {
  const client = useQueryClient();
  const word = disabled ? "Enable" : "Disable";
  const change = async (reason: string) => {
    const address = `/admin/v1/${kind}/${encodeURIComponent(id)}`;
    await send(address, { method: "PATCH", body: { disabled: !disabled }, reason });
    await client.invalidateQueries({ queryKey: ["list"] });
  };
  return (
    <Ask
      trigger={<Button aria-label={`${word} ${label}`}>{word}</Button>}
      title={`${word} the ${words[kind].one} ${label}?`}
      confirm={word}
      isDangerous={!disabled}
      act={change}
    >
      {disabled ? "Calls are taken again." : "All calls of it, and below it, are refused until it is enabled."}
    </Ask>
  );
}

const effects: Readonly<Record<AccountKind, string>> = {
  users: "The user’s tokens are revoked, for good. Calls and entries of the books stay.",
  projects: "The project’s tokens are revoked, for good. Calls and entries of the books stay.",
  organisations: "It can be deleted once it has no users and no projects. Calls and entries of the books stay.",
};

function Delete({ kind, account: { id, name: label } }: { kind: AccountKind; account: NamedAccount }) {
  const client = useQueryClient();
  return (
    <Ask
      trigger={<Button aria-label={`Delete ${label}`}>Delete</Button>}
      title={`Delete the ${words[kind].one} ${label}?`}
      confirm="Delete"
      isDangerous
      act={async (reason) => {
        await send(`/admin/v1/${kind}/${encodeURIComponent(id)}`, { method: "DELETE", reason });
        await client.invalidateQueries({ queryKey: ["list"] });
      }}
    >
      {effects[kind]}
    </Ask>
  );
}
