/** Every way that a page has to make its browser send something to a host. */

/** `path` tells the attempts apart. */
type Attempt = (url: string, socketUrl: string) => string;

const run = (script: string): string => `<script>try { ${script} } catch {}</script>`;
const text = (value: string): string => JSON.stringify(value);
const worker = (script: string): string =>
  `URL.createObjectURL(new Blob([${text(script)}], { type: "text/javascript" }))`;

/** The HTML of an attempt, by its name. Those in `control` reach a host that is permitted, which shows that they are tried. */
const attempts: Readonly<Record<string, Attempt>> = {
  image: (url) => `<img src="${url}">`,
  "image with sources": (url) => `<picture><source srcset="${url} 2x"><img src="${url}"></picture>`,
  script: (url) => `<script src="${url}"></script>`,
  "module script": (url) => `<script type="module" src="${url}"></script>`,
  "style sheet": (url) => `<link rel="stylesheet" href="${url}">`,
  "import of a style": (url) => `<style>@import url("${url}");</style>`,
  background: (url) => `<div style="background: url('${url}')">x</div>`,
  font: (url) => `<style>@font-face { font-family: f; src: url("${url}"); } i { font-family: f; }</style><i>text</i>`,
  frame: (url) => `<iframe src="${url}"></iframe>`,
  object: (url) => `<object data="${url}"></object>`,
  embed: (url) => `<embed src="${url}">`,
  video: (url) => `<video src="${url}" preload="auto"></video>`,
  track: (url) => `<video crossorigin><track default src="${url}"></video>`,
  "image of an SVG": (url) => `<svg width="9" height="9"><image href="${url}" width="9" height="9"/></svg>`,
  icon: (url) => `<link rel="icon" href="${url}">`,
  manifest: (url) => `<link rel="manifest" href="${url}">`,
  prefetch: (url) => `<link rel="prefetch" href="${url}">`,
  preload: (url) => `<link rel="preload" as="script" href="${url}">`,
  "preload of a module": (url) => `<link rel="modulepreload" href="${url}">`,
  preconnect: (url) => `<link rel="preconnect" href="${url}">`,
  "DNS prefetch": (url) => `<link rel="dns-prefetch" href="${url}">`,
  prerender: (url) => `<link rel="prerender" href="${url}">`,
  "speculation rules": (url) =>
    `<script type="speculationrules">${JSON.stringify({ prefetch: [{ source: "list", urls: [url] }], prerender: [{ source: "list", urls: [url] }] })}</script>`,
  "refresh of a frame": (url) => `<iframe srcdoc='<meta http-equiv="refresh" content="0;url=${url}">'></iframe>`,
  "form in a frame": (url) =>
    `<iframe name="form-target"></iframe><form id="form" method="post" target="form-target" action="${url}"></form>` +
    run(`document.getElementById("form").submit()`),
  window: (url) => run(`open(${text(url)})`),
  fetch: (url) => run(`fetch(${text(url)}, { mode: "no-cors" }).catch(() => 0)`),
  "fetch that outlives its page": (url) =>
    run(`fetch(${text(url)}, { mode: "no-cors", keepalive: true, method: "POST", body: "x" }).catch(() => 0)`),
  "fetch with a preflight": (url) => run(`fetch(${text(url)}, { method: "PUT" }).catch(() => 0)`),
  XMLHttpRequest: (url) => run(`const x = new XMLHttpRequest(); x.open("GET", ${text(url)}); x.send()`),
  beacon: (url) => run(`navigator.sendBeacon(${text(url)}, "x")`),
  "image of a script": (url) => run(`new Image().src = ${text(url)}`),
  EventSource: (url) => run(`new EventSource(${text(url)})`),
  WebSocket: (_, socketUrl) => run(`new WebSocket(${text(socketUrl)})`),
  WebTransport: (url) => run(`new WebTransport(${text(url.replace("http:", "https:"))}).closed.catch(() => 0)`),
  worker: (url) =>
    run(`new Worker(${worker(`fetch(${text(url)}, { mode: "no-cors" }); importScripts(${text(url)})`)})`),
  "shared worker": (url) => run(`new SharedWorker(${worker(`fetch(${text(url)}, { mode: "no-cors" })`)})`),
  "service worker": (url) =>
    run(
      `ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, "/worker.js?" + encodeURIComponent(${text(url)})).catch(() => 0)`,
    ),
  "module import": (url) => run(`import(${text(url)}).catch(() => 0)`),
  WebRTC: (url) => {
    const { host } = new URL(url);
    return run(`const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:${host}" },
      { urls: ["turn:${host}?transport=udp", "turn:${host}?transport=tcp"], username: "u", credential: "c" }] });
      peer.createDataChannel("x"); peer.createOffer().then((offer) => peer.setLocalDescription(offer));`);
  },
  "a file": () => `<iframe src="file:///etc/passwd"></iframe>`,
};

/** Attempts of which a request must arrive if one is permitted. The others depend on the browser's mood or on HTTPS. */
export const control: readonly string[] = [
  "image",
  "script",
  "module script",
  "style sheet",
  "import of a style",
  "background",
  "font",
  "frame",
  "object",
  "embed",
  "video",
  "image of an SVG",
  "prefetch",
  "preload",
  "preload of a module",
  "refresh of a frame",
  "form in a frame",
  "fetch",
  "fetch that outlives its page",
  "fetch with a preflight",
  "XMLHttpRequest",
  "beacon",
  "image of a script",
  "EventSource",
  "WebSocket",
  "worker",
  "module import",
];

/** A page that tries all of them with each host (`host:port`), and has an element `#done` behind them. */
export function attemptsPage(hosts: readonly string[]): string {
  const parts = hosts.flatMap((host) =>
    Object.entries(attempts).map(([name, attempt]) => {
      const path = `/${encodeURIComponent(name)}`;
      return attempt(`http://${host}${path}`, `ws://${host}${path}`);
    }),
  );
  return `<!doctype html><title>attempts</title>${parts.join("\n")}<p id="done">done</p>`;
}
