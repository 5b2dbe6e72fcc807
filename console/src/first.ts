/** The first script. It asks for the session, and for the figures of the page, while the rest of the code is on its way. */
import { preloadData } from "./app/preload.ts";

// A failure is met again when the page is shown.
preloadData(location).catch(() => undefined);
void import("./main.tsx");
