import { useApi } from "../../api/queries.ts";
import type { Usage } from "../../api/types.ts";
import { useReach } from "../../api/use-session.ts";
import { useWords } from "../../app/search.ts";
import { parametersOf, type Report, reportOf } from "./report.ts";

export const useReport = (): Report => reportOf(useWords(), useReach());

export function useSpend(report: Report) {
  const { usage } = useReach();
  const { now, before, series } = parametersOf(report);
  return {
    now: useApi<Usage>(usage, now),
    before: useApi<Usage>(usage, before),
    series: useApi<Usage>(usage, series),
  };
}
