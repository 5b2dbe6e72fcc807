import { useApi } from "../../api/queries.ts";
import { useSession } from "../../api/use-session.ts";
import { FindField, useFind } from "../../lists/find-field.tsx";
import type { Configuration } from "../../lists/types.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { FileDifference } from "./file-difference.tsx";
import { sectionsOf, type Setting, settingsOf } from "./settings.ts";

/** The configuration in force, and whether the file has another one. */
export function Page() {
  const find = useFind();
  const { role } = useSession();
  const query = useApi<Configuration>("/admin/v1/config");
  return (
    <>
      <PageHead title="Config" note="The configuration in force. Durations are in milliseconds, sizes in bytes." />
      {(role === "owner" || role === "operator") && <FileDifference />}
      <div className="mb-4">
        <FindField label="Find a key or a value" />
      </div>
      <Loaded query={query}>{({ config }) => <Sections settings={settingsOf(config)} find={find} />}</Loaded>
    </>
  );
}

function Sections({ settings, find }: { settings: readonly Setting[]; find: string }) {
  const found = settings.filter(({ path, value }) => `${path} ${value}`.toLowerCase().includes(find));
  if (found.length === 0) return <Empty title="No key or value has this" />;
  return sectionsOf(found).map(([name, own]) => (
    <section key={name} aria-labelledby={`section-${name}`} className="card mb-4 overflow-hidden">
      <h2 id={`section-${name}`} className="border-b border-line px-4 py-2.5 text-[0.9375rem] font-semibold">
        {name}
      </h2>
      <dl className="divide-y divide-line">
        {own.map(({ path, value }) => (
          <div key={path} className="grid gap-x-6 px-4 py-2 sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
            <dt className="font-mono text-xs leading-5 text-muted [overflow-wrap:anywhere]">{path}</dt>
            <dd className="font-mono text-xs leading-5 [overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  ));
}
