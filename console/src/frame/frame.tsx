import { useIsFetching, useQuery } from "@tanstack/react-query";
import { Outlet, useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { fetchSession, sessionKey } from "../api/session.ts";
import { IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import type { DialogName } from "./dialogs.tsx";
import { Palette } from "./palette.tsx";
import { Brand, Sidebar } from "./sidebar.tsx";
import { useShortcuts } from "./use-shortcuts.ts";
import { UserMenu } from "./user-menu.tsx";

const Dialogs = lazy(async () => ({ default: (await import("./dialogs.tsx")).Dialogs }));

/** The navigation, and the page in its `main`. */
export function Frame() {
  const { data: session } = useQuery({ queryKey: sessionKey, queryFn: fetchSession, staleTime: 60_000 });
  const router = useRouter();
  // The route looks for the session again, and leads to the sign-in page.
  useEffect(() => {
    if (session === null) void router.invalidate();
  }, [session, router]);
  return session === null ? null : <SignedIn />;
}

function SignedIn() {
  const [open, setOpen] = useState<DialogName>();
  const [wasOpened, setOpened] = useState(false);
  const show = (name: DialogName) => {
    setOpen(name);
    if (name !== "palette") setOpened(true);
  };
  const close = () => setOpen(undefined);
  useShortcuts({ palette: () => show("palette"), keys: () => show("keys") });
  return (
    <div className="lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <aside className="no-print sticky top-0 hidden h-dvh border-r border-line bg-surface lg:block">
        <Sidebar openPalette={() => show("palette")} />
      </aside>
      <div className="min-w-0">
        <header className="no-print sticky top-0 z-20 flex items-center gap-1 border-b border-line bg-surface px-3 py-2 lg:hidden">
          <IconButton label="Navigation" onClick={() => show("navigation")}>
            <Icon name="menu" />
          </IconButton>
          <Brand />
          <IconButton label="Go to a page" className="ml-auto" onClick={() => show("palette")}>
            <Icon name="search" />
          </IconButton>
          <UserMenu isCompact openKeys={() => show("keys")} />
        </header>
        <Main openKeys={() => show("keys")} />
      </div>
      {wasOpened && (
        <Suspense>
          <Dialogs open={open} openPalette={() => show("palette")} close={close} />
        </Suspense>
      )}
      <Palette isOpen={open === "palette"} close={close} />
    </div>
  );
}

function Main({ openKeys }: { openKeys: () => void }) {
  // The session is asked for again and again; its requests are no loading of the page.
  const loading = useIsFetching({
    predicate: ({ queryKey, state }) => queryKey[0] !== sessionKey[0] && state.data === undefined,
  });
  return (
    <div className="relative mx-auto max-w-[92rem]">
      <div className="no-print absolute top-5 right-6 z-10 hidden lg:block">
        <UserMenu isCompact={false} openKeys={openKeys} />
      </div>
      <main id="main" tabIndex={-1} aria-busy={loading > 0} className="px-4 py-5 outline-none sm:px-6 lg:px-8 lg:py-6">
        <Outlet />
      </main>
    </div>
  );
}
