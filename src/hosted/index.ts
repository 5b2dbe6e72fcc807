export { HostedTools } from "./hosted-tools.ts";
export { runsAllItself } from "./requests/native-tools.ts";
