import { useSession } from "../../api/use-session.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Balances } from "./balances.tsx";
import { Entries } from "./entries.tsx";
import { Grant } from "./grant.tsx";
import { Holds } from "./holds.tsx";

/** Balances, grants and their reasons, the entries of the books, and the open holds. */
export function Page() {
  const { role } = useSession();
  const grants = role === "owner" || role === "billing";
  return (
    <>
      <PageHead
        title="Credits"
        note="Balances, and every entry of the books that has made them."
        actions={grants && <Grant />}
      />
      <Balances />
      <Entries />
      <Holds />
    </>
  );
}
