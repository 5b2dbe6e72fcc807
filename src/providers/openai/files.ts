import { openaiFiles } from "../shared/files.ts";

export const files = openaiFiles(true);
