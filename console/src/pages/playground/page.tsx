import { useChangeWords, useWords } from "../../app/search.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { ChatPlayground } from "./chat-playground.tsx";
import { ImagePlayground } from "./image-playground.tsx";

const kinds = { chat: "Text", image_generation: "Images" };

/** Calls by hand, charged like any other. */
export function Page() {
  const words = useWords();
  const change = useChangeWords();
  const operation = words["operation"] === "image_generation" ? "image_generation" : "chat";
  return (
    <>
      <PageHead
        title="Playground"
        note="Each call is made with your rights, and charged to you like any other."
        actions={
          <SelectField
            label="Make"
            value={operation}
            options={kinds}
            onChange={(value) => change({ operation: value === "chat" ? undefined : value, model: undefined })}
            className="w-32"
          />
        }
      />
      {operation === "chat" ? <ChatPlayground /> : <ImagePlayground />}
    </>
  );
}
