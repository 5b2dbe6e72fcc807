import { useState } from "react";
import { CodeBlock } from "../../ui/code-block.tsx";
import { asCode, type Language, languages } from "./as-code.ts";

/** The next call as a program, in the language that is chosen. */
export function AsCode({ body }: { body: Record<string, unknown> }) {
  const [language, setLanguage] = useState<Language>("curl");
  return (
    <section aria-label="The call as code" className="card p-5">
      <fieldset className="mb-3 flex flex-wrap gap-1">
        <legend className="sr-only">Language</legend>
        {Object.entries(languages).map(([each, name]) => (
          <label
            key={each}
            className="cursor-pointer rounded-lg px-3 py-1.5 text-[0.8125rem] text-soft hover:bg-hover has-checked:bg-accent-wash has-checked:font-medium has-checked:text-accent has-focus-visible:outline-2"
          >
            <input
              type="radio"
              name="language"
              value={each}
              checked={language === each}
              onChange={() => setLanguage(each as Language)}
              className="sr-only"
            />
            {name}
          </label>
        ))}
      </fieldset>
      <CodeBlock text={asCode(language, shortened(body), location.origin)} />
    </section>
  );
}

const PICTURE_CHARACTERS = 200;

/** Pictures are megabytes of text, which nobody reads. */
function shortened(body: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(body, (_, value: unknown) =>
    typeof value === "string" && value.startsWith("data:") && value.length > PICTURE_CHARACTERS
      ? `${value.slice(0, 60)}…`
      : value,
  );
  return JSON.parse(text) as Record<string, unknown>;
}
