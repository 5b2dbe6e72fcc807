/** The columns of LiteLLM's tables, with the concept that each becomes: the import and docs/from-litellm.md read these tables. */
import type { ImportedFieldRule } from "../finding.ts";

const exact = (to: string): ImportedFieldRule => ({ fidelity: "exact", to });
const approximate = (to: string): ImportedFieldRule => ({ fidelity: "approximate", to });
const byHand = (to: string): ImportedFieldRule => ({ fidelity: "by hand", to });
const impossible = (to: string): ImportedFieldRule => ({ fidelity: "impossible", to });

type Rules = Readonly<Record<string, ImportedFieldRule>>;

/** Columns that say nothing about rights or money. */
const bookkeeping: Rules = {
  created_at: approximate("the time of the import"),
  created_by: approximate("the audit log names who has imported it"),
  updated_at: approximate("the time of the import"),
  updated_by: approximate("the audit log names who has imported it"),
  settings_updated_at: approximate("the time of the import"),
  last_active: approximate("the records of later calls"),
};

const limits: Rules = {
  models: exact("the list of model ids that FILE gives the names; lists are globs"),
  tpm_limit: exact("tpm"),
  rpm_limit: exact("rpm"),
  tpd_limit: impossible("no limit of tokens by day; a budget limits credits by day"),
  max_parallel_requests: exact("concurrency"),
  metadata: byHand("metadata is not read; limits in it have to be set here"),
  object_permission_id: byHand("lists of tools (`--tools`)"),
  model_spend: impossible("the spending by model stays in LiteLLM"),
  policies: impossible("there are no policies of guardrails"),
  access_group_ids: byHand("lists of model ids"),
  router_settings: byHand("routing.routes, for all callers"),
};

const budget: Rules = {
  max_budget: exact("a budget beside the account's chain (`tollgate budget list`)"),
  spend: exact("with a budget, the opening of its running period; without, it stays in LiteLLM"),
  budget_duration: approximate("daily, weekly, monthly or quarterly: another one becomes the next longer"),
  budget_reset_at: exact("the day that the periods begin with; a budget that was due starts at zero"),
  budget_id: exact("the limits of that row"),
  budget_limits: exact("a budget for each window, with the window's spending"),
  soft_budget: byHand("alerts.rules"),
  model_max_budget: byHand("a budget of a model group (`tollgate group create`, `tollgate budget create`)"),
};

export const tableFields: Readonly<Record<string, Rules>> = {
  LiteLLM_OrganizationTable: {
    ...bookkeeping,
    ...limits,
    ...budget,
    organization_id: exact("found again by it in the next run"),
    organization_alias: exact("the organisation's name; other characters than letters, digits and . _ @ + - become -"),
  },
  LiteLLM_TeamTable: {
    ...bookkeeping,
    ...limits,
    ...budget,
    team_id: exact("found again by it in the next run"),
    team_alias: exact("the project's name; other characters than letters, digits and . _ @ + - become -"),
    organization_id: exact("the project's organisation; litellm without one"),
    members: exact("the project's members, as far as they are in its organisation"),
    members_with_roles: approximate(
      "the project's members, as far as they are in its organisation; without their roles",
    ),
    admins: byHand("the role organisation_admin (`tollgate user set`)"),
    blocked: exact("a disabled project"),
    model_id: byHand("models.aliases, for all callers"),
    team_member_permissions: approximate("members have the tokens of their project"),
    default_team_member_models: byHand("lists of model ids"),
    allow_team_guardrail_config: impossible("there are no guardrails"),
  },
  LiteLLM_UserTable: {
    ...bookkeeping,
    ...limits,
    ...budget,
    user_id: exact("found again by it in the next run; the user's name without an e-mail address"),
    user_email: exact("the user's name"),
    user_alias: approximate("the name is the e-mail address or the id"),
    user_role: byHand("each user is a member: give other roles by `tollgate user set --role`"),
    organization_id: exact("the user's organisation; without one that of a membership or a team, else litellm"),
    teams: exact("memberships of projects, as far as they are in the user's organisation"),
    team_id: exact("a membership of a project"),
    sso_user_id: byHand("an identity of the user, or auth.issuers"),
    password: impossible("nobody signs in by a password"),
    password_reset_required: impossible("nobody signs in by a password"),
    last_breach_check_at: impossible("nobody signs in by a password"),
    allowed_cache_controls: impossible("answers are not cached"),
  },
  LiteLLM_VerificationToken: {
    ...bookkeeping,
    ...limits,
    ...budget,
    token: exact("the key goes on working by its hash"),
    key_name: approximate("not needed: it repeats the end of the key"),
    key_alias: exact("the token's name"),
    user_id: exact("the token's user, without a team"),
    team_id: exact("the token's project"),
    organization_id: approximate("the organisation is that of the user or the project"),
    project_id: byHand("the token belongs to the project that its team has become"),
    agent_id: byHand("the token belongs to its user or project"),
    expires: exact("expires_at"),
    blocked: exact("a paused token"),
    total_spend: impossible("the spending before the running period stays in LiteLLM"),
    aliases: byHand("models.aliases, for all callers"),
    config: byHand("not read"),
    permissions: byHand("not read"),
    allowed_routes: byHand("a token with it is paused: there are no lists of routes"),
    key_type: byHand("a token that may not call models is paused"),
    allowed_cache_controls: impossible("answers are not cached"),
    budget_fallbacks: byHand("over_budget of routing.routes, for all callers"),
    soft_budget_cooldown: approximate("not needed"),
    rotation_count: approximate("not needed"),
    auto_rotate: byHand("`tollgate token rotate`, by a timer"),
    rotation_interval: byHand("`tollgate token rotate`, by a timer"),
    last_rotation_at: approximate("not needed"),
    key_rotation_at: byHand("`tollgate token rotate`, by a timer"),
  },
  LiteLLM_DeprecatedVerificationToken: {
    ...bookkeeping,
    id: approximate("not needed"),
    token: exact("the key before a rotation works by its hash until revoke_at"),
    active_token_id: exact("the token that it stands for"),
    revoke_at: exact("the end of the earlier key"),
  },
  LiteLLM_BudgetTable: {
    ...bookkeeping,
    ...budget,
    ...limits,
    budget_id: exact("the limits of the rows that name it"),
    allowed_models: byHand("lists of model ids"),
    temp_budget_increase: exact("a raise of the budget"),
    temp_budget_expiry: exact("the end of the raise"),
  },
};

/** Tables of which only the rows are counted. */
export const otherTables: Rules = {
  LiteLLM_ProxyModelTable: byHand(
    "models in the database are encrypted: put them into FILE, or into providers and pricing",
  ),
  LiteLLM_CredentialsTable: byHand("credentials in the database are encrypted: set their variables"),
  LiteLLM_UserProviderCredentials: byHand("credentials in the database are encrypted"),
  LiteLLM_Config: byHand("settings in the database may be encrypted: put them into FILE"),
  LiteLLM_ConfigOverrides: byHand("settings in the database may be encrypted: put them into FILE"),
  LiteLLM_TeamMembership: byHand("budgets of users within a team: a token of the project for each, with a budget"),
  LiteLLM_OrganizationMembership: approximate("the organisation of a user, without the role"),
  LiteLLM_ProjectTable: byHand("projects below teams: their keys belong to the project that the team has become"),
  LiteLLM_EndUserTable: byHand("budgets of end users"),
  LiteLLM_TagTable: byHand("budgets of tags"),
  LiteLLM_ModelTable: byHand("aliases of a team: models.aliases, for all callers"),
  LiteLLM_ModelAccessGroupBudgetTable: byHand("a budget of a model group"),
  LiteLLM_AccessGroupTable: byHand("lists of model ids"),
  LiteLLM_ObjectPermissionTable: byHand("lists of tools (`--tools`)"),
  LiteLLM_BudgetWindowSpend: exact("the spending of the windows of budget_limits"),
  LiteLLM_MCPServerTable: byHand("mcp.servers in the configuration"),
  LiteLLM_JWTKeyMapping: byHand("identities of users"),
  LiteLLM_InvitationLink: impossible("nobody is invited"),
  LiteLLM_GuardrailsTable: impossible("there are no guardrails"),
  LiteLLM_PromptTable: impossible("there are no stored prompts"),
  LiteLLM_SpendLogs: impossible("the log of calls stays in LiteLLM"),
  LiteLLM_ErrorLogs: impossible("the log of calls stays in LiteLLM"),
  LiteLLM_AuditLog: impossible("the audit log stays in LiteLLM"),
  LiteLLM_DailyUserSpend: impossible("sums of earlier days stay in LiteLLM"),
  LiteLLM_DailyTeamSpend: impossible("sums of earlier days stay in LiteLLM"),
  LiteLLM_DailyTagSpend: impossible("sums of earlier days stay in LiteLLM"),
  LiteLLM_DailyOrganizationSpend: impossible("sums of earlier days stay in LiteLLM"),
  LiteLLM_DailyEndUserSpend: impossible("sums of earlier days stay in LiteLLM"),
  LiteLLM_DailyAgentSpend: impossible("sums of earlier days stay in LiteLLM"),
};
