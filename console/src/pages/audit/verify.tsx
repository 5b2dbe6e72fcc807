import { useMutation } from "@tanstack/react-query";
import { request } from "../../api/client.ts";
import type { AuditVerification } from "../../lists/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";

/** Reads the whole log, and shows whether a row was changed, removed or cut off. */
export function Verify() {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => request<AuditVerification>("/admin/v1/audit/verify"),
  });
  return (
    <div className="flex flex-wrap items-center gap-y-3">
      <span role="status" className="not-empty:mr-3">
        {error !== null && <Badge look="bad">{error.message}</Badge>}
        {data?.ok === true && <Badge look="good">{data.rows} rows, all intact</Badge>}
        {data?.ok === false && <Badge look="bad">{data.fault ?? "the log is not intact"}</Badge>}
      </span>
      <Button disabled={isPending} onClick={() => mutate()}>
        Verify
      </Button>
    </div>
  );
}
