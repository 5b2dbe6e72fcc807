import { useQueryClient } from "@tanstack/react-query";
import { send } from "../../api/client.ts";
import { useSession } from "../../api/use-session.ts";
import { Id, MaybeMoment, Nothing } from "../../lists/cells.tsx";
import { useFind } from "../../lists/find-field.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import { Ask } from "../../ui/ask.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/states.tsx";
import { BudgetBar } from "./budget-bar.tsx";
import { RotateToken } from "./rotate-token.tsx";
import { ChangeToken } from "./token-form.tsx";
import { may, mayKeep } from "./rights.ts";
import type { Token } from "./types.ts";

const PATH = "/admin/v1/tokens";

const columns: readonly Column<Token>[] = [
  { header: "Token", cell: (token) => <Name token={token} /> },
  { header: "Whose", cell: ({ user, project }) => user ?? project ?? <Nothing />, look: "max-sm:hidden" },
  { header: "State", cell: (token) => <State token={token} /> },
  { header: "Role", cell: ({ role }) => role ?? <Nothing />, look: "max-2xl:hidden" },
  { header: "Models", cell: ({ models }) => models?.join(", ") ?? "all", look: "max-xl:hidden max-w-56 truncate" },
  { header: "Expires", cell: ({ expires_at }) => <MaybeMoment text={expires_at} />, look: "max-xl:hidden" },
  {
    header: "Spent",
    cell: ({ spend, max_budget: limit, period }) => <BudgetBar spend={spend} limit={limit} period={period} />,
    look: "figure max-md:hidden",
  },
];

function Name({ token: { id, name } }: { token: Token }) {
  return (
    <>
      {name !== null && <span className="block font-medium">{name}</span>}
      <Id text={id} />
    </>
  );
}

function State({ token: { revoked_at: revoked, paused } }: { token: Token }) {
  if (revoked !== null) return <Badge look="bad">revoked</Badge>;
  return paused ? <Badge look="warn">paused</Badge> : <Badge look="good">in use</Badge>;
}

/** The tokens, with the acts on each. */
export function Tokens() {
  const find = useFind();
  const acts: Column<Token> = { header: "Acts", cell: (token) => <Acts token={token} /> };
  return (
    <ListSection
      caption="Tokens"
      path={PATH}
      columns={[...columns, acts]}
      idOf={({ id }) => id}
      isShown={({ id, name, user, project }) => `${id} ${name} ${user} ${project}`.toLowerCase().includes(find)}
      empty={
        <Empty title={find === "" ? "No token" : "No token below has this"}>
          New token makes one, with its secret shown once.
        </Empty>
      }
    />
  );
}

function Acts({ token }: { token: Token }) {
  const { id, name, paused, revoked_at: revoked } = token;
  const { role, user } = useSession();
  const client = useQueryClient();
  const [canChange, canKeep] = [may(role, "change", "tokens"), mayKeep(role, user, token)];
  if (revoked !== null || !(canChange || canKeep)) return <Nothing />;
  const label = name ?? id;
  const address = `${PATH}/${encodeURIComponent(id)}`;
  const act = async (options: Parameters<typeof send>[1]) => {
    await send(address, options);
    await client.invalidateQueries({ queryKey: ["list"] });
  };
  const revoke = (reason: string) => act({ method: "DELETE", reason });
  const pause = (reason: string) => act({ method: "PATCH", body: { paused: !paused }, reason });
  return (
    <span className="flex gap-2 max-sm:flex-col">
      {may(role, "disable", "tokens") && (
        <Ask
          trigger={
            <Button aria-label={`${paused ? "Resume" : "Pause"} ${label}`}>{paused ? "Resume" : "Pause"}</Button>
          }
          title={`${paused ? "Resume" : "Pause"} ${label}?`}
          confirm={paused ? "Resume" : "Pause"}
          act={pause}
        >
          {paused ? "Its calls are taken again." : "Its calls are refused until it is resumed."}
        </Ask>
      )}
      {canChange && <ChangeToken key={JSON.stringify(token)} token={token} />}
      {canKeep && (
        <>
          <RotateToken token={token} />
          <Ask
            trigger={<Button aria-label={`Revoke ${label}`}>Revoke</Button>}
            title={`Revoke ${label}?`}
            confirm="Revoke"
            isDangerous
            act={revoke}
          >
            Its calls are refused from now on, for good. It stays in this list.
          </Ask>
        </>
      )}
    </span>
  );
}
