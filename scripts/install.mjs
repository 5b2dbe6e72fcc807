// Installs the packages of package-lock.json if they are missing or out of date, then returns: `npm start` and `npm
// test` begin with it, so both work on an untouched clone. Plain JavaScript, because Bun may not be installed yet. With
// --omit=dev only the packages that the server needs. Every failure is one line on stderr and exit code 1.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const nodeMajorMin = 20;
const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const omitDev = process.argv.includes("--omit=dev");

function fail(message) {
  console.error(`tollgate: ${message}`);
  process.exit(1);
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages;
}

/** Whether node_modules lacks a package that the lock file names, or holds another build of it. */
function isOutdated() {
  const installedLock = join(modules, ".package-lock.json");
  if (!existsSync(installedLock)) return true;
  const installed = readPackages(installedLock);
  return Object.entries(readPackages(join(root, "package-lock.json"))).some(([path, locked]) => {
    if (path === "" || (omitDev && locked.dev)) return false;
    const found = installed[path];
    if (found === undefined) return !locked.optional;
    return found.version !== locked.version || found.integrity !== (locked.integrity ?? found.integrity);
  });
}

/** The most informative line of npm's log, without npm's prefix. */
function causeOf(log) {
  const lines = log.split("\n").filter((line) => /^npm (error|ERR!) /.test(line));
  const texts = lines.map((line) => line.replace(/^npm (error|ERR!) /, "").trim()).filter((text) => text !== "");
  return texts.find((text) => !/^(code|errno|syscall|A complete log)\b/.test(text)) ?? texts[0] ?? "no output";
}

function runNpm(commandLine) {
  const npm = process.env.npm_execpath;
  const [command, before] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const result = spawnSync(command, [...before, ...commandLine], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const failure = result.error === undefined ? "" : `npm error ${result.error.message}`;
  return { ok: result.status === 0, log: [result.stdout, result.stderr, failure].join("\n") };
}

function install() {
  console.error("tollgate: installing packages …");
  const scope = omitDev ? "--omit=dev" : "--include=dev";
  const { ok, log } = runNpm(["ci", scope, "--no-audit", "--no-fund", "--loglevel=warn"]);
  if (ok) return;
  const logPath = join(mkdtempSync(join(tmpdir(), "tollgate-install-")), "npm.log");
  writeFileSync(logPath, log);
  fail(`cannot install the packages: ${causeOf(log)} (npm's whole output: ${logPath})`);
}

/** Bun's install script puts the binary in the place of a few bytes of text. */
function isBunPlaceholder() {
  const bun = join(modules, "bun", "bin", "bun.exe");
  return !existsSync(bun) || statSync(bun).size < 1_000_000;
}

if (Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
  fail(`Node.js ${nodeMajorMin} or newer is needed, this is ${process.versions.node}`);
}
if (isOutdated()) install();
// The launcher finds the binary without that script; the npm scripts don't.
if (!omitDev && isBunPlaceholder()) {
  fail("Bun's install script did not run: run `npm rebuild bun --ignore-scripts=false`");
}
