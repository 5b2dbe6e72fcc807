import { anthropic } from "./anthropic/index.ts";
import { byteplus } from "./byteplus/index.ts";
import { brave } from "./brave/index.ts";
import { cohere } from "./cohere/index.ts";
import { deepseek } from "./deepseek/index.ts";
import { firecrawl } from "./firecrawl/index.ts";
import { google } from "./google/index.ts";
import { jina } from "./jina/index.ts";
import { mistral } from "./mistral/index.ts";
import { openaiCompatible } from "./openai-compatible/index.ts";
import { openai } from "./openai/index.ts";
import { searxng } from "./searxng/index.ts";
import { FaultBook } from "./shared/faults.ts";
import { listen } from "./shared/listener.ts";
import { type RecordedRequest, Recorder } from "./shared/recorder.ts";
import { KeptAnswers } from "./shared/kept-answers.ts";
import { lazyCorpus } from "./shared/search/corpus.ts";
import { SimulatorClock } from "./shared/videos/stored-videos.ts";
import { OpenSockets, type RecordedSocket } from "./shared/realtime/open-sockets.ts";
import type { SimulatedProvider } from "./shared/types.ts";
import { startDemoSite } from "./site/index.ts";
import { voyage } from "./voyage/index.ts";
import { xai } from "./xai/index.ts";

export type { RecordedRequest } from "./shared/recorder.ts";
export type { RecordedSocket } from "./shared/realtime/open-sockets.ts";

const providers = {
  openai,
  google,
  xai,
  deepseek,
  anthropic,
  mistral,
  byteplus,
  cohere,
  jina,
  voyage,
  "openai-compatible": openaiCompatible,
};

/** The simulated APIs that read or search the web for the gateway. */
interface WebUpstreams {
  readonly firecrawl: string;
  readonly searxng: string;
  readonly brave: string;
}

/** Names of the simulated providers; each is the first segment of its paths. */
export type SimulatorName = keyof typeof providers;

export interface SimulatorOptions {
  /** Address to listen on; 127.0.0.1 without one. */
  readonly host?: string;
  /** 0 or absent: the system chooses a free port. */
  readonly port?: number;
  /** The port of the demo site; another one is taken if it is not free. 0 or absent: the system chooses. */
  readonly sitePort?: number;
}

/** The running simulators and their received requests. */
export interface Simulators {
  readonly url: string;
  /** Base URL of each provider, as a gateway's configuration wants it. */
  readonly providers: { readonly [name in SimulatorName]: string };
  /** Base URL of each simulated API of the web: the part before `/v2/scrape`, `/search` and `/web/search`. */
  readonly web: WebUpstreams;
  /** The demo site, for example `http://127.0.0.1:8788`; it has a listener of its own. */
  readonly site: string;
  /** The last requests to any provider, oldest first (at most 2,000). */
  requests(): RecordedRequest[];
  /** All requests since the start or the last clear. */
  total(): number;
  /** Forgets the requests and resets the counters of `times-K`. */
  clear(): void;
  /** The last WebSockets to any provider, oldest first. */
  sockets(): readonly RecordedSocket[];
  /** Breaks all open WebSockets off. */
  cutSockets(): void;
  /** Turns the clock that video jobs run by forward. */
  advance(milliseconds: number): void;
  /** Ends the listener and all open connections. */
  stop(): Promise<void>;
}

/** Starts all simulated providers behind one listener. Rejects if the port is taken. */
export async function startSimulators(options: SimulatorOptions = {}): Promise<Simulators> {
  const recorder = new Recorder();
  const faultBook = new FaultBook();
  const clock = new SimulatorClock();
  const openSockets = new OpenSockets();
  const { host = "127.0.0.1", port = 0, sitePort = 0 } = options;
  const site = startDemoSite({ host, port: sitePort });
  const corpus = lazyCorpus(site.url);
  const web = { firecrawl: firecrawl({ corpus, clock }), searxng: searxng(corpus), brave: brave(corpus) };
  const served = [...Object.values(providers), ...Object.values(web)];
  const kept = new Map(served.map(({ name }) => [name, new KeptAnswers(clock)]));
  const shared = { providers: served, recorder, faultBook, kept, clock, openSockets };
  const listener = await listen({ ...shared, host, port }).catch(async (error: unknown) => {
    await site.stop();
    throw error;
  });
  return {
    url: listener.url,
    site: site.url,
    providers: baseUrls(listener.url),
    web: {
      firecrawl: listener.url + web.firecrawl.basePath,
      searxng: listener.url + web.searxng.basePath,
      brave: listener.url + web.brave.basePath,
    },
    requests: () => recorder.requests,
    total: () => recorder.total,
    clear: () => {
      recorder.clear();
      openSockets.clear();
      faultBook.reset();
    },
    sockets: () => openSockets.all,
    cutSockets: () => openSockets.cut(),
    advance: (milliseconds) => clock.advance(milliseconds),
    stop: async () => {
      await Promise.all([listener.stop(), site.stop()]);
    },
  };
}

function baseUrls(url: string): Simulators["providers"] {
  const base = (provider: SimulatedProvider): string => url + provider.basePath;
  return {
    openai: base(openai),
    google: base(google),
    xai: base(xai),
    deepseek: base(deepseek),
    anthropic: base(anthropic),
    mistral: base(mistral),
    byteplus: base(byteplus),
    cohere: base(cohere),
    jina: base(jina),
    voyage: base(voyage),
    "openai-compatible": base(openaiCompatible),
  };
}
