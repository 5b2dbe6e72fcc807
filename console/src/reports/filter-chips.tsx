import { Icon } from "../ui/icon.tsx";
import { type Grouping, groupingText } from "./dimensions.ts";

interface FilterChipsProps {
  /** Grouping → the value that calls must have. */
  filters: Readonly<Partial<Record<Grouping, string>>>;
  remove: (grouping: Grouping) => void;
}

/** The filters in force, each with a button that removes it. */
export function FilterChips({ filters, remove }: FilterChipsProps) {
  const entries = Object.entries(filters) as [Grouping, string][];
  if (entries.length === 0) return null;
  return (
    <ul aria-label="Filters" className="mb-4 flex flex-wrap gap-2">
      {entries.map(([grouping, value]) => (
        <li
          key={grouping}
          className="flex max-w-full items-center gap-1 rounded-full border border-line-strong bg-surface py-0.5 pr-1 pl-3 text-[0.8125rem]"
        >
          <span className="text-muted">{groupingText(grouping)}</span>
          <span className="truncate font-medium">{value}</span>
          <button
            type="button"
            aria-label={`Remove the filter ${groupingText(grouping)} ${value}`}
            onClick={() => remove(grouping)}
            className="no-print grid size-6 place-content-center rounded-full text-muted hover:bg-hover"
          >
            <Icon name="close" className="size-3.5" />
          </button>
        </li>
      ))}
    </ul>
  );
}
