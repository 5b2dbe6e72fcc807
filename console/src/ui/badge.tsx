import type { ReactNode } from "react";

const looks = {
  good: "bg-good-wash text-good",
  bad: "bg-bad-wash text-bad",
  warn: "bg-warn-wash text-warn",
  plain: "bg-sunken text-soft",
};

/** A state in one or two words. */
export function Badge({ look, children }: { look: keyof typeof looks; children: ReactNode }) {
  return (
    <span className={`inline-flex items-center rounded-full px-2 py-0.5 text-xs font-medium ${looks[look]}`}>
      {children}
    </span>
  );
}
