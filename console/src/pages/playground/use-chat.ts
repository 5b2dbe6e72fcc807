import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { chatBody, type Settings, type Turn } from "./conversation.ts";
import { type Answer, streamChat } from "./stream-chat.ts";

interface Chat {
  turns: readonly Turn[];
  /** The answer that is on its way. */
  growing: Answer | undefined;
  error: Error | null;
  isSending: boolean;
  /** Adds turns, and asks for the next answer. */
  ask: (more: readonly Turn[]) => void;
  stop: () => void;
  clear: () => void;
}

/** A conversation with a model. What has come of an answer stays in it, even if it was stopped. */
export function useChat(settings: Settings): Chat {
  const client = useQueryClient();
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [growing, setGrowing] = useState<Answer>();
  const sending = useRef<AbortController>(undefined);
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: async (asked: readonly Turn[]) => {
      const { signal } = (sending.current = new AbortController());
      let last: Answer | undefined;
      const show = (answer: Answer) => {
        last = answer;
        setGrowing(answer);
      };
      try {
        last = await streamChat(chatBody(settings, asked), show, signal);
      } catch (reason) {
        if (!signal.aborted) throw reason;
      } finally {
        setGrowing(undefined);
        if (last !== undefined) setTurns([...asked, turnOf(last)]);
        await client.invalidateQueries({ queryKey: ["/v1/user/info"] });
      }
    },
  });
  return {
    turns,
    growing,
    error,
    isSending: isPending,
    ask: (more) => {
      const asked = [...turns, ...more];
      setTurns(asked);
      mutate(asked);
    },
    stop: () => sending.current?.abort(),
    clear: () => {
      setTurns([]);
      reset();
    },
  };
}

function turnOf({ text, toolCalls, requestId }: Answer): Turn {
  return { role: "assistant", text, toolCalls, requestId };
}
