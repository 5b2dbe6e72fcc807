import { Link } from "@tanstack/react-router";

/** Above a page about one call or several: the way back to the list. */
export function ToRequests() {
  return (
    <p className="no-print mb-1 text-[0.8125rem]">
      <Link to="/requests" className="text-muted underline underline-offset-4">
        Requests
      </Link>
    </p>
  );
}
