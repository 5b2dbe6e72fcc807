import { Link } from "@tanstack/react-router";
import { useChangeWords, useWords } from "../../app/search.ts";
import { Id, Nothing } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import { Amount } from "../../money/amount.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { Empty } from "../../ui/states.tsx";
import { type BooksEntry, ownerOf } from "./types.ts";

const kinds = {
  "": "All",
  grant: "Grants",
  refund: "Refunds",
  settle: "Charges",
  release: "Releases",
  expire: "Expired holds",
};

/** The words of the API that name whose entries are listed. */
const owners = ["organisation", "user", "project", "token"] as const;

const columns: readonly Column<BooksEntry>[] = [
  { header: "Time", cell: ({ created_at }) => <MomentText text={created_at} /> },
  { header: "Entry", cell: (entry) => <EntryId entry={entry} />, look: "max-md:hidden" },
  { header: "Kind", cell: ({ kind }) => kind },
  { header: "Whose", cell: (entry) => ownerOf(entry) || <Nothing />, look: "max-sm:hidden" },
  { header: "From", cell: ({ debit_account }) => debit_account, look: "max-2xl:hidden text-soft" },
  { header: "To", cell: ({ credit_account }) => credit_account, look: "max-2xl:hidden text-soft" },
  { header: "Credits", cell: ({ amount }) => <Amount value={amount} />, look: "figure" },
  { header: "Held", cell: ({ held }) => <Amount value={held} />, look: "figure max-2xl:hidden" },
  {
    header: "Reason",
    cell: (entry) => <Reason entry={entry} />,
    look: "max-lg:hidden whitespace-normal! min-w-40 [overflow-wrap:anywhere]",
  },
];

/** Of a call it leads to the call. */
function EntryId({ entry: { id } }: { entry: BooksEntry }) {
  const [call = ""] = id.split(":");
  if (!call.startsWith("req_")) return <Id text={id} />;
  return (
    <Link to={`/requests/${call}`} className="font-mono text-xs underline decoration-line-strong underline-offset-4">
      {id}
    </Link>
  );
}

function Reason({ entry: { actor, reason } }: { entry: BooksEntry }) {
  if (actor === null && reason === null) return <Nothing />;
  return (
    <>
      {reason} {actor !== null && <span className="text-muted">by {actor}</span>}
    </>
  );
}

interface ControlsProps {
  kind: string;
  /** Whose entries are listed: words of the API and their values. */
  wanted: readonly (readonly [word: string, value: string])[];
  change: (words: Record<string, string | undefined>) => void;
}

function Controls({ kind, wanted, change }: ControlsProps) {
  return (
    <div className="no-print mb-3 flex flex-wrap items-end gap-3">
      <SelectField
        label="Kind"
        value={kind in kinds ? (kind as keyof typeof kinds) : ""}
        options={kinds}
        onChange={(value) => change({ kind: value })}
        className="w-40"
      />
      {wanted.map(([owner, value]) => (
        <button
          key={owner}
          type="button"
          aria-label={`Remove the filter ${owner} ${value}`}
          onClick={() => change({ [owner]: undefined })}
          className="control rounded-full!"
        >
          <span className="text-muted">{owner}</span> {value} ×
        </button>
      ))}
    </div>
  );
}

/** The entries of the books, the latest first. */
export function Entries() {
  const words = useWords();
  const change = useChangeWords();
  const { kind = "" } = words;
  const wanted = owners.flatMap((owner) => (words[owner] === undefined ? [] : [[owner, words[owner]] as const]));
  return (
    <ListSection
      caption="Entries"
      isTitled
      controls={<Controls kind={kind} wanted={wanted} change={change} />}
      path="/admin/v1/entries"
      parameters={{ ...Object.fromEntries(wanted), kind }}
      columns={columns}
      idOf={({ id, kind: own }) => `${id} ${own}`}
      more="Older entries"
      empty={<Empty title="No entry">Each grant, charge and released hold makes one.</Empty>}
    />
  );
}
