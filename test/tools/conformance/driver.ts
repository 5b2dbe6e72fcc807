/** Run by the suite for each scenario, with the URL of its server: lets the test perform the scenario, and ends as that ended. */
const {
  MCP_CONFORMANCE_SCENARIO: scenario,
  MCP_CONFORMANCE_CONTEXT: context,
  TOLLGATE_SCENARIOS: control,
} = process.env;
const answer = await fetch(control ?? "", {
  method: "POST",
  body: JSON.stringify({ url: process.argv.at(-1), scenario, context: JSON.parse(context ?? "{}") as unknown }),
});
console.error(await answer.text());
process.exit(answer.ok ? 0 : 1);
