import {
  deploymentFields,
  generalSettings,
  litellmSettings,
  modelInfoFields,
  routerSettings,
} from "./config/fields.ts";
import { otherTables, tableFields } from "./database/fields.ts";

export { importConfig, type ImportedConfig } from "./config/import-config.ts";
export { knownProviders as importedProviders } from "./config/providers.ts";
export { planAccounts } from "./database/plan-accounts.ts";
export { readDatabase } from "./sql/read-database.ts";
export type { ImportedFieldRule, Finding } from "./finding.ts";

/** The rules for LiteLLM's configuration, by section. */
export const configFields = {
  "model_list: litellm_params": deploymentFields,
  "model_list: model_info": modelInfoFields,
  litellm_settings: litellmSettings,
  router_settings: routerSettings,
  general_settings: generalSettings,
};

/** The rules for LiteLLM's tables: by column, and for the rows of the others. */
export const databaseFields = { ...tableFields, "Other tables": otherTables };
