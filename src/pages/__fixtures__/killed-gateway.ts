/** A process that has a child read a long document, prints the child's id, and is killed meanwhile. */
import { PagePool } from "../pool/page-pool.ts";
import { bytesOf, pageRequest } from "./request.ts";

const pool = new PagePool({ children: 1 });
await pool.takeApart(bytesOf("<p>ready"), pageRequest(), { owner: "alice" });
const running = pool.takeApart(bytesOf("<div><p>word</p></div>".repeat(1_000_000)), pageRequest(), { owner: "alice" });
process.stdout.write(String(pool.pids[0]));
await running;
