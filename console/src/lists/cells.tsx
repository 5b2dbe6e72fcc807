import { MomentText } from "../ui/moment.tsx";

/** A time that may not be there yet. */
export function MaybeMoment({ text }: { text: string | null }) {
  return text === null ? <Nothing /> : <MomentText text={text} />;
}

/** In the place of a value that is not there. */
export function Nothing() {
  return (
    <span className="text-muted" aria-label="none">
      –
    </span>
  );
}

/** An id in full, which a click selects. */
export function Id({ text }: { text: string }) {
  return <code className="font-mono text-xs select-all max-sm:break-all max-sm:whitespace-normal">{text}</code>;
}
