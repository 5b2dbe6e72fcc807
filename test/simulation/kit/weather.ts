import type { Weather } from "./faulty-store.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";
import { calm } from "./world.ts";

type Phase = (random: Random) => Weather;

const phases: Readonly<Record<string, Phase>> = {
  refusing: () => ({ name: "refusing", isSync: false, latencyMs: [0, 5], refuses: 1, loses: 0 }),
  losing: () => ({ name: "losing", isSync: false, latencyMs: [0, 50], refuses: 0, loses: 1 }),
  flaky: () => ({ name: "flaky", isSync: false, latencyMs: [0, 200], refuses: 0.3, loses: 0.3 }),
  slow: (random) => ({ name: "slow", isSync: false, latencyMs: [100, random.int(200, 3_000)], refuses: 0, loses: 0.1 }),
  stalled: (random) => ({
    name: "stalled",
    isSync: false,
    latencyMs: [4_000, random.int(5_000, 20_000)],
    refuses: 0.5,
    loses: 0.2,
  }),
};

/** Plans when the store is slow, refuses or loses its answers, until `untilMs` from now; it is calm in between. */
export function planWeather(world: World, untilMs: number): void {
  const { random, time, meetings } = world;
  const usual: Weather = random.pick([
    calm,
    { ...calm, isSync: true },
    { ...calm, latencyMs: [1, 80] as const },
    { ...calm, latencyMs: [50, 500] as const },
  ]);
  const restlessness = random.pick([0, 0.3, 1, 1, 3]);
  const set = (weather: Weather): void => {
    world.trace(`the store is ${weather.name}`);
    world.weather = weather;
  };
  set(usual);
  if (restlessness === 0) return;
  let at = 0;
  for (;;) {
    at += random.int(50, Math.ceil(8_000 / restlessness));
    const length = random.pick([random.int(20, 400), random.int(200, 3_000), random.int(1_000, 12_000)]);
    if (at + length >= untilMs) break;
    const name = random.weighted({ refusing: 4, losing: 4, flaky: 2, slow: 3, stalled: 1 });
    const weather = phases[name]?.(random) ?? calm;
    time.after(at, () => {
      set(weather);
      meetings.beginForAll("outage");
    });
    at += length;
    time.after(at, () => {
      set(usual);
      meetings.endForAll("outage");
    });
  }
  time.after(untilMs, () => set(calm));
}
