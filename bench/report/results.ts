import type { ExtractionFigures } from "../extraction/measure.ts";
import type { BesideFigures } from "../beside/measure.ts";
import type { ConsoleFigures } from "../console/measure.ts";
import type { FrontierFigures } from "../frontier/measure.ts";
import type { GrowthFigures } from "../growth/measure.ts";
import type { RealtimeColumn } from "../realtime/measure.ts";
import type { PausesFigures } from "../pauses/measure.ts";
import type { RoutesFigures } from "../routes/measure.ts";
import type { SearchFigures } from "../search/measure.ts";
import type { HostedFigures } from "../hosted/measure.ts";
import type { ToolsFigures } from "../tools/measure.ts";
import type { PagesFigures } from "../pages/measure.ts";
import type { VideoFigures } from "../videos/measure.ts";
import type { LedgerFigures } from "../ledger/measure.ts";
import type { ComparedCase } from "../scenarios/comparison.ts";
import type { CaseResult } from "../scenarios/matrix.ts";
import type { OpenLoopColumn } from "../scenarios/open-loop.ts";
import type { OpenStreamsResult } from "../scenarios/open-streams.ts";
import type { SoakResult } from "../scenarios/soak.ts";
import type { StartUpResult } from "../scenarios/start-up.ts";
import type { UploadsResult } from "../scenarios/uploads.ts";

/** Everything that a run has measured; also the content of the file of `--json`. */
export interface Results {
  command: string;
  at: string;
  /** Lines for the head of the report. */
  conditions: string[];
  columns: Column[];
  /** Why a column is not there. */
  missing: string[];
  cases: CaseResult[];
  /** Of two checkouts; empty unless one was named. */
  comparison: ComparedCase[];
  startUp: StartUpResult[];
  openLoop: OpenLoopColumn[];
  openStreams: OpenStreamsResult[];
  uploads: UploadsResult[];
  ledger: LedgerFigures[];
  growth: GrowthFigures[];
  /** Null if they were not measured. */
  videos: VideoFigures | null;
  pages: PagesFigures | null;
  frontier: FrontierFigures[];
  search: SearchFigures[];
  /** Null if they were not measured. */
  tools: ToolsFigures | null;
  /** Null if it was not measured. */
  hosted: HostedFigures | null;
  /** Null if it was not measured. */
  beside: BesideFigures | null;
  console: ConsoleFigures[];
  /** Null if they were not measured. */
  routes: RoutesFigures | null;
  budgets: ComparedCase[];
  /** A relayed Gemini stream beside a Messages stream. */
  native: ComparedCase[];
  pauses: PausesFigures | null;
  realtime: RealtimeColumn[];
  /** Null if it was not measured, or the pages are not there. */
  extraction: ExtractionFigures | null;
  soak: SoakResult | null;
  /** Cores that other work on this machine kept busy during the run, on average. */
  otherLoadCores: number;
}

interface Column {
  id: string;
  label: string;
  setUp: string;
}
