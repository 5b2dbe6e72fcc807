import { lazily } from "./lazily.ts";

const timeFormat = lazily(
  () => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" }),
);
const dayFormat = lazily(() => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" }));
const wholeFormat = lazily(() => new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" }));

/** A time in the browser's zone: today's without its date. */
export function MomentText({ text }: { text: string }) {
  const time = new Date(text);
  const isToday = time.toDateString() === new Date().toDateString();
  return (
    <time dateTime={text} title={wholeFormat().format(time)}>
      {!isToday && <span className="mr-1.5">{dayFormat().format(time)}</span>}
      {timeFormat().format(time)}
    </time>
  );
}
