import { Link } from "@tanstack/react-router";
import { useSession } from "../api/use-session.ts";
import { pagesFor } from "../app/navigation.ts";
import { Icon } from "../ui/icon.tsx";

export function Brand() {
  return (
    <Link to="/" className="flex items-center gap-2.5 rounded-md px-1 text-[0.9375rem] font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-6" aria-hidden="true">
        <rect width="32" height="32" rx="8" className="fill-accent-fill" />
        <path d="M9 23V12.5a7 7 0 0 1 14 0V23" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
        <path d="M6.5 18h19" stroke="#b9c0ff" strokeWidth="2.6" strokeLinecap="round" />
      </svg>
      Tollgate
    </Link>
  );
}

const linkClass =
  "flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-soft hover:bg-hover data-[status=active]:bg-accent-wash data-[status=active]:font-medium data-[status=active]:text-accent";

interface SidebarProps {
  openPalette: () => void;
  onNavigate?: () => void;
}

/** The navigation: the pages that the user's role may use, by section. */
export function Sidebar({ openPalette, onNavigate }: SidebarProps) {
  const { role } = useSession();
  const pages = pagesFor(role);
  const sections = [...new Set(pages.map(({ section }) => section))];
  return (
    <div className="flex h-full flex-col gap-5 overflow-y-auto p-4">
      <Brand />
      <button
        type="button"
        onClick={openPalette}
        className="flex items-center gap-2 rounded-lg border border-line bg-sunken px-2.5 py-1.5 text-left text-[0.8125rem] text-muted hover:border-line-strong"
      >
        <Icon name="search" />
        <span className="flex-1">Go to…</span>
        <kbd className="font-sans text-xs">{isApple ? "⌘" : "Ctrl"} K</kbd>
      </button>
      <nav aria-label="Pages" className="flex-1 space-y-5">
        {sections.map((section) => (
          <div key={section}>
            <p className="px-2.5 pb-1 text-xs font-medium text-muted">{section}</p>
            <ul className="space-y-0.5">
              {pages
                .filter((page) => page.section === section)
                .map(({ path, title }) => (
                  <li key={path}>
                    <Link to={`/${path}`} className={linkClass} {...(onNavigate && { onClick: onNavigate })}>
                      <Icon name={path} />
                      {title}
                    </Link>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </nav>
      <a href="/docs" className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-soft hover:bg-hover">
        <Icon name="docs" />
        Documentation
      </a>
    </div>
  );
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
