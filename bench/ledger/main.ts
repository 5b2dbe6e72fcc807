/** `bun bench/ledger/main.ts [SECONDS]`: the ledger alone on each store; also a part of `npm run bench`. */
import { tmpdir } from "node:os";
import { barsTable } from "../report/bars.ts";
import { describeMachine } from "../system/machine.ts";
import { measureLedger } from "./measure.ts";
import { ledgerBars, ledgerTable } from "./report.ts";

const seconds = Number(process.argv[2] ?? 3);
if (!(seconds > 0)) throw new Error(`"${process.argv[2]}" is no number of seconds`);
const figures = await measureLedger(seconds, (line) => process.stderr.write(`${line}\n`));
process.stdout.write(`${describeMachine(tmpdir())}\n\n${ledgerTable(figures)}\n${barsTable(ledgerBars(figures))}`);
