export { Calendar, dayName, isTimezone } from "./calendar.ts";
