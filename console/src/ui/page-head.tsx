import type { ReactNode } from "react";

interface PageHeadProps {
  title: string;
  /** A line below the title. */
  note?: ReactNode;
  /** Buttons of the page. */
  actions?: ReactNode;
}

/** The one heading of a page, which is its title in the browser too. */
export function PageHead({ title, note, actions }: PageHeadProps) {
  return (
    <div className="mb-5 flex min-h-9 flex-wrap items-center gap-x-4 gap-y-3 lg:pr-48">
      <title>{`${title} · Tollgate`}</title>
      <div className="min-w-0">
        <h1 className="text-[1.375rem] leading-9 font-semibold tracking-tight">{title}</h1>
        {note !== undefined && <p className="text-muted">{note}</p>}
      </div>
      {actions !== undefined && <div className="no-print flex flex-wrap gap-2 lg:ml-auto">{actions}</div>}
    </div>
  );
}
