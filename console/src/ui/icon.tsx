/** Paths of icons on a grid of 20, drawn with lines. Pages are named as in the navigation. */
const paths: Readonly<Record<string, string>> = {
  overview: "M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z",
  spend: "M3 17h14M5.5 14V9.5M10 14V4M14.5 14V7",
  requests: "M3 6h10m0 0-3-3m3 3-3 3M17 14H7m0 0 3-3m-3 3 3 3",
  accounts: "M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM3.5 17a6.5 6.5 0 0 1 13 0",
  credits: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM12.3 7.8a3 3 0 1 0 0 4.4",
  providers: "M6 15h8.5a3 3 0 0 0 .4-6A5 5 0 0 0 5.3 8.4 3.3 3.3 0 0 0 6 15Z",
  models: "M10 2.5 17 6.2v7.6L10 17.5 3 13.8V6.2zM3 6.2l7 3.8 7-3.8M10 10v7.5",
  routes: "M5 5.5a2 2 0 1 0 0-.01M15 14.5a2 2 0 1 0 0-.01M5 7.5v4a3 3 0 0 0 3 3h5M15 12.5v-4a3 3 0 0 0-3-3H7",
  playground: "M7 4.5v11l8.5-5.5z",
  jobs: "M4 5h12M4 10h12M4 15h7",
  alerts: "M5 14V9a5 5 0 0 1 10 0v5l1.5 1.5h-13zM8.5 17.5h3",
  audit: "M5 3h7l3 3v11H5zM8 9h4M8 12.5h4",
  nodes: "M3.5 4h13v5h-13zM3.5 11.5h13v5h-13zM6.5 6.5h.01M6.5 14h.01",
  config: "M4 6h7M15 6h1M4 14h1M9 14h7M13 4.3v3.4M7 12.3v3.4",
  docs: "M10 5.5C8.5 4.2 6 4 3.5 4v11c2.5 0 5 .2 6.5 1.5 1.5-1.3 4-1.5 6.5-1.5V4c-2.5 0-5 .2-6.5 1.5Zm0 0v11",
  search: "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12ZM17 17l-3.5-3.5",
  menu: "M3.5 6h13M3.5 10h13M3.5 14h13",
  close: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  down: "M6 8l4 4 4-4",
  right: "M8 6l4 4-4 4",
  up: "M6 12l4-4 4 4",
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  copy: "M7 7V4h9v9h-3M4 7h9v9H4z",
  leave: "M8 4H4v12h4M12.5 6.5 16 10l-3.5 3.5M16 10H8",
  keyboard: "M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7",
  system: "M3 4h14v9.5H3zM7.5 17h5M10 13.5V17",
  light:
    "M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M4.7 15.3l1-1M14.3 5.7l1-1",
  dark: "M16.5 11.5A7 7 0 1 1 8.5 3.5a5.5 5.5 0 0 0 8 8Z",
  download: "M10 3v9m0 0 3.5-3.5M10 12 6.5 8.5M4 16.5h12",
  print: "M6 7V3h8v4M6 14H3.5V7h13v7H14M6 12h8v5H6z",
  warning: "M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.3h.01",
  live: "M10 11a1 1 0 1 0 0-2 1 1 0 0 0 0 2ZM6.5 13.5a5 5 0 0 1 0-7M13.5 6.5a5 5 0 0 1 0 7M4 16a8.5 8.5 0 0 1 0-12M16 4a8.5 8.5 0 0 1 0 12",
};

/** A picture beside a text, or in a button with a label: it is not read out. */
export function Icon({ name, className = "size-[1.125rem]" }: { name: string; className?: string }) {
  return (
    <svg
      viewBox="0 0 20 20"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`shrink-0 ${className}`}
    >
      <path d={paths[name] ?? ""} />
    </svg>
  );
}
