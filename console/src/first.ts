/**
 * The first script. While the rest of the code is on its way, it asks for the session and for the figures of the page. The rest runs once
 * these requests are sent: it keeps the thread busy for as long as the gateway needs to answer them.
 */
import { preloadData } from "./app/preload.ts";
import { applyTheme, storedTheme } from "./frame/theme.ts";

const asked = preloadData(location);
applyTheme(storedTheme());
// A failure is met again when the page is shown.
void asked.catch(() => undefined).then(() => import("./main.tsx"));
