import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import type { TokenWithSecret } from "./types.ts";

/** A new secret, which is shown once. */
export function Secret({ token: { id, name, token } }: { token: TokenWithSecret }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(token ?? "");
    setCopied(true);
  };
  return (
    <div role="status">
      <p className="text-soft">
        The secret of {name ?? id}. It is shown only now: keep it where your program reads it.
      </p>
      <code className="mt-3 block rounded-lg border border-line bg-sunken p-3 font-mono text-xs break-all select-all">
        {token}
      </code>
      <div className="mt-4 flex justify-end">
        <Button onClick={() => void copy().catch(() => undefined)}>{isCopied ? "Copied" : "Copy"}</Button>
      </div>
    </div>
  );
}
