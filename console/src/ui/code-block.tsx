import { useState } from "react";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** Code with a button that copies it. */
export function CodeBlock({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <div className="relative rounded-lg border border-line bg-sunken">
      <pre
        tabIndex={0}
        aria-label="Code"
        className="overflow-x-auto rounded-lg p-3.5 pr-12 font-mono text-xs leading-5"
      >
        {text}
      </pre>
      <IconButton
        label={isCopied ? "Copied" : "Copy"}
        className="absolute top-1 right-1 bg-sunken"
        onClick={() => void copy().catch(() => undefined)}
      >
        <Icon name={isCopied ? "check" : "copy"} />
      </IconButton>
    </div>
  );
}
