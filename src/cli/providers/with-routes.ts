import { createModelRouter } from "../../app/routing/routing.ts";
import {
  type ModelRouter,
  openTargetStore,
  Overrides,
  type TargetStore,
  type UpstreamRoute,
} from "../../routing/index.ts";
import { catalogsIn } from "../catalogs.ts";
import type { CommonOptions } from "../options.ts";
import { environment, type State, withState } from "../state.ts";

/** The state of the routes, for one command. */
export interface Routed {
  state: State;
  store: TargetStore;
  router: ModelRouter;
  routes: readonly UpstreamRoute[];
}

/** Runs a command with the configured routes, without the targets that are disabled. */
export function withRoutes<T>(options: CommonOptions, work: (routed: Routed) => Promise<T>): Promise<T> {
  return withState(options, async (state) => {
    const { storage, loaded } = state;
    const { config, missingKeys } = loaded;
    const catalogs = await catalogsIn(storage, config);
    const store = openTargetStore(storage);
    const overrides = new Overrides(environment.clock);
    overrides.replace(await store.overrides(environment.clock()));
    const router = createModelRouter({ config, missingKeys, sandbox: new Map(), environment, catalogs, overrides });
    return work({ state, store, router, routes: router.routes });
  });
}
