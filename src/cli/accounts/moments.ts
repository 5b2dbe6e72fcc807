import { parseDuration } from "../../config/index.ts";
import { dayName } from "../../core/index.ts";
import { type Moment, parseMoment } from "../../spending/index.ts";
import { UsageError } from "../options.ts";
import { environment } from "../state.ts";

/** The parser of an option with a date, a date-time or an age such as 7d. */
export function momentOption(name: string): (text: string) => Moment {
  return (text) => {
    const moment = parseMoment(text);
    if (moment !== undefined) return moment;
    try {
      return { at: environment.clock() - parseDuration(text) };
    } catch {
      throw new UsageError(`${name}: "${text}" is no date, date-time or age such as 7d`);
    }
  };
}

/** The moment as a query of the API has it. */
export function momentText(moment: Moment | undefined): string | undefined {
  if (moment === undefined) return undefined;
  return "at" in moment ? new Date(moment.at).toISOString() : dayName(moment.day);
}
