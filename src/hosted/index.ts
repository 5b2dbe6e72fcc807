export { HostedTools } from "./hosted-tools.ts";
