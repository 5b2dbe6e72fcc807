/** Small parts that most pages have: each as a file of its own would be one more request. */
// oxlint-disable import/no-unassigned-import -- that is all that it is for
import "../api/queries.ts";
import "../lists/cells.tsx";
import "../lists/find-field.tsx";
import "../lists/list-section.tsx";
import "../money/amount.tsx";
import "../plots/colors.ts";
import "../plots/plot.tsx";
import "../reports/change.tsx";
import "../reports/csv.ts";
import "../reports/filter-chips.tsx";
import "../reports/period-field.tsx";
import "../reports/tag-keys.ts";
import "../ui/badge.tsx";
import "../ui/first-call.ts";
import "../ui/moment.tsx";
import "../ui/page-head.tsx";
import "../ui/select-field.tsx";
import "../ui/text-field.tsx";
import "./search.ts";
