/** Runs samples in TypeScript, whose files are named as arguments, one after the other; prints the failed ones with their errors as JSON. */
const failed: Record<string, string> = {};
console.log = () => undefined;
for (const file of process.argv.slice(2)) {
  try {
    await import(file);
  } catch (reason) {
    failed[file] = reason instanceof Error ? reason.message : String(reason);
  }
}
process.stdout.write(JSON.stringify(failed), () => process.exit());
