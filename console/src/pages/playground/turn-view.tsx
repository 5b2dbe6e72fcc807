import type { ReactNode, SyntheticEvent } from "react";
import { Button } from "../../ui/button.tsx";
import { CallCost } from "./call-cost.tsx";
import type { ToolCall, Turn } from "./conversation.ts";
import type { Answer } from "./stream-chat.ts";

const names = { user: "You", assistant: "Model", tool: "Tool" };

interface TurnViewProps {
  turn: Turn;
  /** Sends the results of the tools that the turn calls; absent if none are awaited. */
  answer: ((results: readonly Turn[]) => void) | undefined;
}

/** One message of a conversation. */
export function TurnView({ turn, answer }: TurnViewProps) {
  return (
    <Message name={names[turn.role]}>
      <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{turn.text}</p>
      {turn.role === "user" && turn.pictures.length > 0 && (
        <div className="mt-2 flex flex-wrap gap-2">
          {turn.pictures.map((url) => (
            <img key={url} src={url} alt="Sent along" className="max-h-40 rounded-lg border border-line" />
          ))}
        </div>
      )}
      {turn.role === "assistant" && <ToolCalls calls={turn.toolCalls} answer={answer} />}
      {turn.role === "assistant" && turn.requestId !== null && <CallCost requestId={turn.requestId} />}
    </Message>
  );
}

/** An answer that is on its way. */
export function Growing({ answer: { text, toolCalls } }: { answer: Answer }) {
  return (
    <Message name={names.assistant}>
      <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</p>
      <ToolCalls calls={toolCalls} answer={undefined} />
    </Message>
  );
}

function Message({ name, children }: { name: string; children: ReactNode }) {
  return (
    <article className="grid gap-x-4 gap-y-1 sm:grid-cols-[4.5rem_minmax(0,1fr)]">
      <h2 className="text-[0.8125rem] font-medium text-muted">{name}</h2>
      <div className="min-w-0">{children}</div>
    </article>
  );
}

interface ToolCallsProps {
  calls: readonly ToolCall[];
  answer: TurnViewProps["answer"];
}

/** The calls of tools of an answer. The reader is the tool: their results are written by hand. */
function ToolCalls({ calls, answer }: ToolCallsProps) {
  if (calls.length === 0) return null;
  const send = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    answer?.(
      calls.map(({ id }) => {
        const text = form.get(id);
        return { role: "tool", callId: id, text: typeof text === "string" ? text : "" };
      }),
    );
  };
  return (
    <form onSubmit={send} className="mt-2 space-y-3">
      {calls.map((call) => (
        <div key={call.id} className="rounded-lg border border-line bg-sunken p-3">
          <code className="block font-mono text-xs [overflow-wrap:anywhere]">
            {call.name}({call.arguments})
          </code>
          {answer !== undefined && (
            <label className="mt-2 block">
              <span className="mb-1 block text-xs text-muted">Result of {call.name}</span>
              <input name={call.id} required autoComplete="off" className="control w-full" />
            </label>
          )}
        </div>
      ))}
      {answer !== undefined && <Button type="submit">Send the results</Button>}
    </form>
  );
}
