import { useState } from "react";
import { useWords } from "../../app/search.ts";
import { ErrorState } from "../../ui/states.tsx";
import { AsCode } from "./as-code-view.tsx";
import { Composer } from "./composer.tsx";
import { chatBody, faultOfTools, type Settings } from "./conversation.ts";
import { CostBefore } from "./cost-before.tsx";
import { ModelField, useModel } from "./model-field.tsx";
import { SettingsFields } from "./settings-fields.tsx";
import { Growing, TurnView } from "./turn-view.tsx";
import { useChat } from "./use-chat.ts";

const usual = ["openai/gpt-5-mini", "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash"];

/** A conversation with any model that generates text. */
export function ChatPlayground() {
  const found = useModel("chat", usual);
  const { prompt = "" } = useWords();
  const [own, setOwn] = useState<Omit<Settings, "model">>({ system: "", tokensMax: 1_024, tools: "" });
  const settings = { ...own, model: found.id };
  const chat = useChat(settings);
  const [draft, setDraft] = useState(prompt);
  const fault = faultOfTools(own);
  const turns =
    draft.trim() === "" ? chat.turns : [...chat.turns, { role: "user", text: draft, pictures: [] } as const];
  const body = fault === undefined ? chatBody(settings, turns) : undefined;
  const last = chat.turns.at(-1);
  const lacksResults = last?.role === "assistant" && last.toolCalls.length > 0;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <section aria-label="Conversation" className="card flex min-h-96 flex-col">
        <div className="flex-1 space-y-5 p-5" aria-live="polite" aria-busy={chat.isSending}>
          {chat.turns.length === 0 && (
            <p className="py-12 text-center text-muted">
              Write a message below. Nothing of it is stored by the console.
            </p>
          )}
          {chat.turns.map((turn, index) => (
            <TurnView
              // Turns are only added.
              key={index}
              turn={turn}
              answer={lacksResults && index === chat.turns.length - 1 && !chat.isSending ? chat.ask : undefined}
            />
          ))}
          {chat.growing !== undefined && <Growing answer={chat.growing} />}
          {chat.isSending && chat.growing === undefined && (
            <p className="animate-pulse text-muted">Asking {found.id} …</p>
          )}
          {chat.error !== null && <ErrorState error={chat.error} retry={() => chat.ask([])} />}
        </div>
        <Composer draft={draft} setDraft={setDraft} chat={chat} isReady={found.id !== "" && fault === undefined} />
      </section>
      <div className="space-y-5">
        <section aria-label="Settings" className="card space-y-4 p-5">
          <ModelField found={found} />
          <SettingsFields settings={own} change={setOwn} fault={fault} />
          {body !== undefined && <CostBefore model={found.model} body={body} tokensMax={own.tokensMax} />}
        </section>
      </div>
      {body !== undefined && (
        <div className="xl:col-span-2">
          <AsCode body={body} />
        </div>
      )}
    </div>
  );
}
