import { answers, streams } from "./answers.ts";
import { replies } from "./replies.ts";
import { requests } from "./requests.ts";
import { sockets } from "./sockets.ts";
import type { FuzzTarget } from "./target.ts";

export const targets: readonly FuzzTarget[] = [replies, streams, answers, requests, sockets];
