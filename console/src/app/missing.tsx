import { Link } from "@tanstack/react-router";

export function Missing() {
  return (
    <main className="grid min-h-dvh place-content-center gap-3 p-6 text-center">
      <title>Not found · Tollgate</title>
      <h1 className="text-xl font-semibold">There is no such page</h1>
      <p className="text-muted">The address may be of a newer version, or have been mistyped.</p>
      <p>
        <Link to="/" className="text-accent underline underline-offset-4">
          Back to the console
        </Link>
      </p>
    </main>
  );
}
