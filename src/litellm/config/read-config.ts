/** The parts of LiteLLM's configuration that are read. Values of another form are left out here; every field is noted by the import. */
import { z } from "zod";
import { keysOf } from "../../core/index.ts";

const members = z.record(z.string(), z.unknown());

const deployment = z.object({
  model_name: z.string().min(1),
  litellm_params: members,
  model_info: members.nullish(),
});

const file = z.object({
  model_list: z.array(z.unknown()).nullish(),
  credential_list: z
    .array(z.object({ credential_name: z.string(), credential_values: members.nullish() }).loose())
    .nullish(),
  litellm_settings: members.nullish(),
  router_settings: members.nullish(),
  general_settings: members.nullish(),
  environment_variables: members.nullish(),
});

export interface LitellmDeployment {
  /** In the file: `model_list.0`. */
  path: string;
  name: string;
  params: Readonly<Record<string, unknown>>;
  info: Readonly<Record<string, unknown>>;
}

type Members = Readonly<Record<string, unknown>>;

export interface LitellmConfig {
  deployments: LitellmDeployment[];
  /** Entries of model_list that have no name or no parameters. */
  unreadable: string[];
  credentials: ReadonlyMap<string, Members>;
  litellm: Members;
  router: Members;
  general: Members;
  variables: Members;
  /** Further sections of the file. */
  others: string[];
}

const sections: ReadonlySet<string> = new Set(keysOf(file.shape));

/** Throws a `TypeError` if the whole is not of LiteLLM's form. */
export function readLitellmConfig(value: unknown): LitellmConfig {
  const parsed = file.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError([...(issue?.path ?? []), issue?.message ?? "not a configuration of LiteLLM"].join(": "));
  }
  const { model_list: list, credential_list: credentials, ...rest } = parsed.data;
  const unreadable: string[] = [];
  const deployments = (list ?? []).flatMap((entry, index): LitellmDeployment[] => {
    const path = `model_list.${index}`;
    const read = deployment.safeParse(entry);
    if (!read.success) unreadable.push(path);
    if (!read.success) return [];
    const { model_name: name, litellm_params: params, model_info: info } = read.data;
    return [{ path, name, params, info: info ?? {} }];
  });
  return {
    deployments,
    unreadable,
    credentials: new Map(
      (credentials ?? []).map(({ credential_name: name, credential_values: values }) => [name, values ?? {}]),
    ),
    litellm: rest.litellm_settings ?? {},
    router: rest.router_settings ?? {},
    general: rest.general_settings ?? {},
    variables: rest.environment_variables ?? {},
    others: Object.keys(z.record(z.string(), z.unknown()).parse(value)).filter((name) => !sections.has(name)),
  };
}

/** A text of the file. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** A number above zero of the file, which may be written as a text. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : undefined;
}

/** The variable that `os.environ/NAME` names. */
export function variableIn(text: string): string | undefined {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1];
}
