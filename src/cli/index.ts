import type { Command } from "commander";

/** The functions that add the commands. Only the code of the command that is called is loaded: the server's takes most of a start. */
export const commands: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import("./serve.ts")).addServeCommand,
  config: async () => (await import("./reload/commands.ts")).addConfigCommands,
  token: async () => (await import("./accounts/token.ts")).addTokenCommands,
  account: async () => (await import("./accounts/account.ts")).addAccountCommands,
  organisation: async () => (await import("./accounts/holders.ts")).addOrganisationCommands,
  user: async () => (await import("./accounts/holders.ts")).addUserCommands,
  people: async () => (await import("./accounts/people.ts")).addPeopleCommands,
  group: async () => (await import("./accounts/budgets.ts")).addGroupCommands,
  budget: async () => (await import("./accounts/budgets.ts")).addBudgetCommands,
  usage: async () => (await import("./accounts/usage.ts")).addUsageCommand,
  audit: async () => (await import("./accounts/audit.ts")).addAuditCommands,
  credits: async () => (await import("./accounts/credits.ts")).addCreditsCommands,
  ledger: async () => (await import("./ledger/commands.ts")).addLedgerCommands,
  models: async () => (await import("./models/index.ts")).addModelsCommand,
  providers: async () => (await import("./providers/index.ts")).addProvidersCommands,
  route: async () => (await import("./providers/explain.ts")).addRouteCommands,
  migrate: async () => (await import("./migrate.ts")).addMigrateCommand,
  nodes: async () => (await import("./nodes.ts")).addNodesCommand,
  webhooks: async () => (await import("./webhooks/secret.ts")).addWebhooksCommands,
  doctor: async () => (await import("./doctor.ts")).addDoctorCommand,
  health: async () => (await import("./health.ts")).addHealthCommand,
  sim: async () => (await import("./sim.ts")).addSimCommand,
  mcp: async () => (await import("./mcp/command.ts")).addMcpCommand,
  worker: async () => (await import("./worker.ts")).addWorkerCommand,
};
