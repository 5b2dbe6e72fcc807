import { type KeyboardEvent, type SyntheticEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Pictures } from "./pictures.tsx";
import type { useChat } from "./use-chat.ts";

interface ComposerProps {
  draft: string;
  setDraft: (draft: string) => void;
  chat: ReturnType<typeof useChat>;
  /** Whether a call can be made. */
  isReady: boolean;
}

/** The next message: Enter sends it, with Shift it makes a new line. */
export function Composer({ draft, setDraft, chat, isReady }: ComposerProps) {
  const [pictures, setPictures] = useState<readonly string[]>([]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!isReady || chat.isSending || draft.trim() === "") return;
    chat.ask([{ role: "user", text: draft, pictures }]);
    setDraft("");
    setPictures([]);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
  };
  return (
    <form onSubmit={submit} className="border-t border-line p-4">
      <label>
        <span className="sr-only">Message</span>
        <textarea
          rows={3}
          value={draft}
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={key}
          placeholder="Message"
          className="control h-auto! w-full resize-y py-2 leading-5"
        />
      </label>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Pictures pictures={pictures} setPictures={setPictures} />
        <span className="ml-auto" />
        {chat.turns.length > 0 && !chat.isSending && <Button onClick={chat.clear}>Clear</Button>}
        {chat.isSending ? (
          <Button kind="danger" onClick={chat.stop}>
            Stop
          </Button>
        ) : (
          <Button type="submit" kind="primary" disabled={!isReady || draft.trim() === ""}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}
