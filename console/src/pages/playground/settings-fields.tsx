import type { Settings } from "./conversation.ts";

type Own = Omit<Settings, "model">;

interface SettingsFieldsProps {
  settings: Own;
  change: (settings: Own) => void;
  /** Why the tools can't be sent. */
  fault: string | undefined;
}

const example = `[{
  "type": "function",
  "function": {
    "name": "get_weather",
    "description": "The weather at a place",
    "parameters": { "type": "object", "properties": { "place": { "type": "string" } } }
  }
}]`;

const area = "control h-auto! w-full py-2 leading-5";

/** The instructions, the limit of an answer, and the tools. */
export function SettingsFields({ settings, change, fault }: SettingsFieldsProps) {
  const { system, tokensMax, tools } = settings;
  return (
    <>
      <label className="block">
        <span className="mb-1 block text-xs text-muted">Instructions</span>
        <textarea
          rows={3}
          value={system}
          onChange={({ target }) => change({ ...settings, system: target.value })}
          className={area}
        />
      </label>
      <label className="block">
        <span className="mb-1 block text-xs text-muted">Output tokens at most</span>
        <input
          type="number"
          min={1}
          max={1_000_000}
          value={tokensMax}
          onChange={({ target }) =>
            change({ ...settings, tokensMax: Math.max(1, Math.trunc(target.valueAsNumber) || 1) })
          }
          className="control figures w-full"
        />
      </label>
      <details open={tools !== ""}>
        <summary className="cursor-pointer text-xs text-muted">Tools</summary>
        <label className="mt-2 block">
          <span className="sr-only">Tools, a list in JSON</span>
          <textarea
            rows={6}
            value={tools}
            spellCheck={false}
            placeholder={example}
            aria-invalid={fault !== undefined}
            onChange={({ target }) => change({ ...settings, tools: target.value })}
            className={`${area} font-mono text-xs!`}
          />
        </label>
        {fault !== undefined && <p className="mt-1 text-xs text-bad">{fault}</p>}
        {tools === "" && (
          <button
            type="button"
            onClick={() => change({ ...settings, tools: example })}
            className="text-xs text-accent underline underline-offset-4"
          >
            Insert an example
          </button>
        )}
      </details>
    </>
  );
}
