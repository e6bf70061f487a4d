/** The product's own strokes on a 16 px grid. Every status word has an icon of its own shape. */
const shapes = {
  arrow: "M3 8h9.5M9 4.5L12.5 8 9 11.5",
  bundle: "M2.5 5L8 2.5 13.5 5v6L8 13.5 2.5 11zM2.5 5L8 7.5 13.5 5M8 7.5v6",
  check: "M3.5 8.5l3 3 6-6.5",
  claims: "M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3M5.8 8.5h4.4M5.8 11h2.6",
  clock: "M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M8 4.8V8l2.2 1.4",
  columns: "M3.5 3h9a1 1 0 0 1 1 1v8a1 1 0 0 1 -1 1h-9a1 1 0 0 1 -1 -1v-8a1 1 0 0 1 1 -1M6.2 3v10M9.8 3v10",
  copy: "M6.7 5.5h5.6a1.2 1.2 0 0 1 1.2 1.2v5.6a1.2 1.2 0 0 1 -1.2 1.2h-5.6a1.2 1.2 0 0 1 -1.2 -1.2v-5.6a1.2 1.2 0 0 1 1.2 -1.2M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2",
  density: "M2.5 3.5h11M2.5 6.5h11M2.5 9.5h11M2.5 12.5h11",
  down: "M4.5 6.5L8 10l3.5-3.5",
  download: "M8 2.5v7.5M5 7.2L8 10.2l3-3M3 13.5h10",
  "eye-off": "M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4zM3 13L13 3",
  failed: "M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM6 6l4 4M10 6l-4 4",
  findings: "M4 14V2.5M4 3h7.8l-1.6 2.8 1.6 2.8H4",
  flask: "M6.3 2.5h3.4M7 2.5v4L3.6 12a1 1 0 0 0 .9 1.5h7a1 1 0 0 0 .9-1.5L9 6.5v-4",
  fold: "M3.5 3h9a1 1 0 0 1 1 1v8a1 1 0 0 1 -1 1h-9a1 1 0 0 1 -1 -1v-8a1 1 0 0 1 1 -1M6.5 3v10M11 6.5L9.5 8l1.5 1.5",
  grow: "M8 2.5v11M5 5.5l3-3 3 3M3 13.5h10",
  info: "M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M8 7.3v3.5M8 5.1v.01",
  lock: "M4.5 7h7a1 1 0 0 1 1 1v4.5a1 1 0 0 1 -1 1h-7a1 1 0 0 1 -1 -1v-4.5a1 1 0 0 1 1 -1M5.5 7V5.2a2.5 2.5 0 0 1 5 0V7",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  na: "M5 8h6",
  nodes: "M3.5 2.8h9a1 1 0 0 1 1 1v2.4a1 1 0 0 1 -1 1h-9a1 1 0 0 1 -1 -1v-2.4a1 1 0 0 1 1 -1M3.5 8.8h9a1 1 0 0 1 1 1v2.4a1 1 0 0 1 -1 1h-9a1 1 0 0 1 -1 -1v-2.4a1 1 0 0 1 1 -1M5 5h.01M5 11h.01M8 5h3M8 11h3",
  "not-reached": "M4.5 8a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0",
  ok: "M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M5.3 8.3l2 2 3.6-4.1",
  open: "M9 3h4v4M13 3L7.5 8.5M11 9.5V13H3V5h3.5",
  operations: "M3 4h7M3 8h10M3 12h5M11.8 10.2l2 1.8-2 1.8",
  overview: "M2.5 12.5V9.5M6.2 12.5V5.5M9.8 12.5V8M13.5 12.5V3.5",
  plugins: "M5.5 2.5v3M10.5 2.5v3M3.5 5.5h9v2.2a4.5 4.5 0 0 1-9 0zM8 12.2v1.8",
  plus: "M8 3.5v9M3.5 8h9",
  retry: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3",
  search: "M2.8 7a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0 -8.4 0M10.2 10.2l3.3 3.3",
  sort: "M8 3.5v9M4.8 9.3L8 12.5l3.2-3.2",
  stuck: "M8 2.2l6.2 11H1.8zM8 6.6v3M8 11.4v.01",
  sun: "M5.2 8a2.8 2.8 0 1 0 5.6 0a2.8 2.8 0 1 0 -5.6 0M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1",
  terminal: "M3 4.5L6.5 8 3 11.5M8 12h5",
  unknown: "M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M6.5 6.5A1.6 1.6 0 1 1 8 8.3v.7M8 11v.01",
  "up-down": "M5 6.2L8 3.2l3 3M5 9.8l3 3 3-3",
  volumes: "M3 4a5 1.8 0 1 0 10 0a5 1.8 0 1 0 -10 0M3 4v8c0 1 2.2 1.8 5 1.8s5-.8 5-1.8V4M3 8c0 1 2.2 1.8 5 1.8S13 9 13 8",
  waiting: "M2 8a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M6.4 5.8v4.4M9.6 5.8v4.4",
  working: "M8 2a6 6 0 1 1-5.6 3.9",
  x: "M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6",
  yaml: "M5.5 3C4 3 4.6 5 4.4 6.2 4.3 7.4 3 8 3 8s1.3.6 1.4 1.8C4.6 11 4 13 5.5 13M10.5 3c1.5 0 .9 2 1.1 3.2C11.7 7.4 13 8 13 8s-1.3.6-1.4 1.8C11.4 11 12 13 10.5 13",
} as const;

export type IconName = keyof typeof shapes;

/** Decoration: whoever places it gives the words. */
export function Icon({ name, small = false, className = "" }: { name: IconName; small?: boolean; className?: string }) {
  return (
    <svg className={`i ${small ? "i-s" : ""} ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      <path
        d={shapes[name]}
        strokeDasharray={name === "unknown" ? "2.2 2" : undefined}
        strokeWidth={name === "working" ? 2 : undefined}
      />
    </svg>
  );
}
