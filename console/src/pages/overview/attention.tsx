import { useApi } from "../../api/queries.ts";
import { useReach } from "../../api/use-session.ts";
import type { List } from "../../api/types.ts";
import type { Alert, Provider } from "../../lists/types.ts";
import { Icon } from "../../ui/icon.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { Loaded, Skeleton } from "../../ui/states.tsx";

/** Often enough for somebody who watches. */
const EVERY_MS = 30_000;

/** Open alerts, and providers whose keys or models are not used at the moment. */
export function Attention() {
  const { isOperator } = useReach();
  return isOperator ? <OperatorAttention /> : null;
}

function OperatorAttention() {
  const alerts = useApi<List<Alert>>("/admin/v1/alerts", { limit: 50 }, { everyMs: EVERY_MS });
  const providers = useApi<List<Provider>>("/admin/v1/providers", { limit: 100 }, { everyMs: EVERY_MS });
  const troubles = providers.data?.data.flatMap(troublesOf) ?? [];
  return (
    <section aria-label="Attention" className="card p-4">
      <h2 className="mb-3 text-[0.8125rem] font-medium text-soft">Needs attention</h2>
      <Loaded query={alerts} skeleton={<Skeleton className="h-16" />}>
        {({ data }) =>
          data.length + troubles.length === 0 ? (
            <p className="flex items-center gap-2 text-muted">
              <span className="text-good">
                <Icon name="check" />
              </span>
              No alert is open, and all providers are used.
            </p>
          ) : (
            <ul className="space-y-2.5">
              {data.map(({ id, rule, account, value, since }) => (
                <Item key={id} text={`${rule}${account === null ? "" : ` · ${account}`}: ${value}`}>
                  since <MomentText text={since} />
                </Item>
              ))}
              {troubles.map((text) => (
                <Item key={text} text={text} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function Item({ text, children }: { text: string; children?: React.ReactNode }) {
  return (
    <li className="flex gap-2">
      <span className="mt-0.5 text-warn">
        <Icon name="warning" />
      </span>
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {text} <span className="text-xs text-muted">{children}</span>
      </span>
    </li>
  );
}

function troublesOf({ id, refused_keys: refused, disabled, left_out: left }: Provider): string[] {
  return [
    ...(refused.length > 0 ? [`${id} refuses ${refused.length === 1 ? "a key" : `${refused.length} keys`}`] : []),
    ...disabled.map(({ target }) => `${target} is switched off`),
    ...left.map(({ model }) => `${model} is left out for a while, since it has failed`),
  ];
}
