import type { ChangeEvent } from "react";
import { IconButton } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";

interface PicturesProps {
  /** As data URLs. */
  pictures: readonly string[];
  setPictures: (pictures: readonly string[]) => void;
}

/** The pictures that are sent along. */
export function Pictures({ pictures, setPictures }: PicturesProps) {
  const add = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const added = await Promise.all([...(target.files ?? [])].map(dataUrlOf));
    setPictures([...pictures, ...added]);
    target.value = "";
  };
  return (
    <>
      <label className="control inline-flex cursor-pointer items-center font-medium has-focus-visible:outline-2">
        Add pictures
        <input type="file" accept="image/*" multiple onChange={(event) => void add(event)} className="sr-only" />
      </label>
      {pictures.map((url, index) => (
        <span key={url} className="relative">
          <img src={url} alt={`Picture ${index + 1}`} className="h-9 rounded-md border border-line" />
          <IconButton
            label={`Remove picture ${index + 1}`}
            onClick={() => setPictures(pictures.filter((each) => each !== url))}
            className="absolute! -top-2 -right-2 size-5! bg-raised"
          >
            <Icon name="close" className="size-3" />
          </IconButton>
        </span>
      ))}
    </>
  );
}

async function dataUrlOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return `data:${file.type};base64,${bytes.toBase64()}`;
}
