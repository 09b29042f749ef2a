import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { type Diagnostic, DocumentError } from '../documents/diagnostic.ts';
import { Document } from '../documents/document.ts';
import { interpolateVariables } from '../documents/interpolate.ts';
import { booleanFieldSchema, secondsFieldSchema, textFieldSchema } from '../documents/field-schemas.ts';
import { toDiagnostics, formatPath } from '../documents/schema-issues.ts';
import type { EnvironmentVariables } from '../documents/read-config.ts';
import { isJsonObject } from '../primitives/json.ts';
import { invalidField } from '../protocol/errors.ts';

/** Configuration of one agent. */
const agentSchema = z.strictObject({
  agent_name: textFieldSchema
    .regex(/^[^/\s]+$/, 'must not contain spaces or slashes')
    .describe('Prefix of the action names: agent_name/skill_id.'),
  a2a_server_url: z
    .url({ protocol: /^https?$/, error: 'must be an absolute URL, such as http://localhost:4000' })
    .describe('URL of the agent.'),
  a2a_server_command: z
    .union([textFieldSchema, z.array(textFieldSchema).min(1)])
    .optional()
    .describe(
      'Command that starts the agent: a command line without shell syntax, or a list of arguments. Default: the agent is already running.',
    ),
  a2a_server_working_dir: textFieldSchema
    .optional()
    .describe('Working directory of the command, relative to this file.'),
  a2a_server_env_file: textFieldSchema
    .optional()
    .describe('File with NAME=value lines for the environment of the command, relative to this file.'),
  a2a_server_startup_timeout: secondsFieldSchema
    .optional()
    .describe('Seconds until the started agent must respond. Default 30.'),
  a2a_server_restart_on_crash: booleanFieldSchema
    .optional()
    .describe('Restarts the agent after a crash. Default true.'),
  a2a_bearer_token: textFieldSchema
    .optional()
    .describe(
      'Bearer token to send to the agent if its card lists a bearer, OAuth 2 or OpenID Connect scheme.',
    ),
  a2a_bearer_always: booleanFieldSchema
    .optional()
    .describe('Sends the token even if the card lists no such scheme. Default false.'),
  input_required_ttl: secondsFieldSchema
    .optional()
    .describe('Lifetime of follow-up IDs, in seconds. Default 300.'),
});

/** Configuration file of a bridge: one agent, or several under `agents`. */
const bridgeFileSchema = z.union([agentSchema, agentListSchema(agentSchema)]);

function agentListSchema<T extends z.ZodType>(agent: T) {
  return z.strictObject({ agents: z.array(agent).min(1, 'must name at least one agent') });
}

/** Returns the JSON Schema of the bridge configuration file. The URL is optional, because the environment may set it. */
export function bridgeJsonSchema(): { readonly [keyword: string]: unknown } {
  const agent = agentSchema.partial({ a2a_server_url: true });
  return { ...z.toJSONSchema(z.union([agent, agentListSchema(agent)])) };
}

type AgentKeys = z.output<typeof agentSchema>;

/** Configuration of an agent of a bridge, with defaults applied. */
export interface BridgeAgentConfig {
  readonly agentName: string;
  readonly url: string;
  /** Undefined if the agent is already running. */
  readonly command: string | readonly string[] | undefined;
  readonly workingDir: string | undefined;
  readonly envFile: string | undefined;
  /** Milliseconds. */
  readonly startupTimeout: number;
  readonly restartOnCrash: boolean;
  readonly bearerToken: string | undefined;
  /** Sends the token even if the card lists no scheme for it. @defaultValue false */
  readonly bearerAlways?: boolean;
  /** Seconds. */
  readonly inputRequiredTtl: number;
}

/**
 * Reads the configuration file of a bridge. Missing keys are read from environment variables that start with the name
 * of the agent, such as `WEATHER_A2A_SERVER_URL`.
 *
 * @param environment - also the values of `${NAME}` and `${NAME, default}`.
 * @throws DocumentError with all diagnostics.
 */
export function readBridgeConfig(
  text: string,
  file: string,
  environment: EnvironmentVariables,
): BridgeAgentConfig[] {
  const document = Document.parse(text, file);
  const diagnostics: Diagnostic[] = [];
  const content = interpolateVariables(document.value, environment, (path, name) => {
    diagnostics.push(document.diagnostic(path, `environment variable ${name} is not set and has no default`));
  });
  // Unset variables become empty values, which the schema would report a second time.
  if (diagnostics.length > 0) throw new DocumentError(file, diagnostics);
  const { agents, single } = listAgents(content);
  const completed = agents.map((each) => withEnvironment(each, environment));
  const checked = document.check(
    bridgeFileSchema,
    single ? completed[0] : { ...(content as object), agents: completed },
  );
  const configs = ('agents' in checked ? checked.agents : [checked]).map((each) =>
    toConfig(each, dirname(file)),
  );
  const names = new Set<string>();
  for (const [index, { agentName }] of configs.entries()) {
    if (names.has(agentName))
      diagnostics.push(document.diagnostic(['agents', index, 'agent_name'], 'must be unique'));
    names.add(agentName);
  }
  if (diagnostics.length > 0) throw new DocumentError(file, diagnostics);
  return configs;
}

/**
 * Reads the configuration of an agent from environment variables: `WEATHER_A2A_SERVER_URL`,
 * `WEATHER_A2A_SERVER_COMMAND` and so on.
 *
 * @throws A2AError with the name of the missing or invalid variable.
 */
export function bridgeConfigFromEnvironment(
  agentName: string,
  environment: EnvironmentVariables,
): BridgeAgentConfig {
  const entry = withEnvironment({ agent_name: agentName }, environment);
  const result = agentSchema.safeParse(entry, { reportInput: true });
  if (result.success) return toConfig(result.data, '.');
  const [first] = toDiagnostics(result.error.issues);
  const key = formatPath(first?.path ?? []);
  const name = key === 'agent_name' ? key : (variableNames(agentName, key)[0] ?? key);
  throw invalidField(name, first?.message ?? 'must be valid');
}

/** Returns the agents of a document that is not validated yet. */
function listAgents(value: unknown): { agents: readonly unknown[]; single: boolean } {
  const agents = (value as { agents?: unknown } | null | undefined)?.agents;
  return Array.isArray(agents) ? { agents, single: false } : { agents: [value], single: true };
}

/** Adds values from the environment for missing and empty keys. */
function withEnvironment(value: unknown, environment: EnvironmentVariables): unknown {
  if (!isJsonObject(value)) return value;
  const entry = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== '' && each !== null));
  const { agent_name: name } = entry;
  if (typeof name !== 'string') return entry;
  for (const key of Object.keys(agentSchema.shape)) {
    const found = variableNames(name, key).find((each) => (environment[each] ?? '') !== '');
    if (key !== 'agent_name' && found !== undefined) entry[key] ??= environment[found];
  }
  return entry;
}

/** Returns the variable names of a key. `SERVER` is optional in all of them. */
function variableNames(agentName: string, key: string): string[] {
  const prefix = agentName.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  const short = key.replace(/^a2a_(server_)?/, '');
  return [key, `a2a_${short}`, `a2a_server_${short}`].map((each) => `${prefix}_${each.toUpperCase()}`);
}

function toConfig(keys: AgentKeys, folder: string): BridgeAgentConfig {
  const { a2a_server_working_dir: workingDir, a2a_server_env_file: envFile } = keys;
  return {
    agentName: keys.agent_name,
    url: keys.a2a_server_url,
    command: keys.a2a_server_command,
    workingDir: workingDir === undefined ? undefined : resolve(folder, workingDir),
    envFile: envFile === undefined ? undefined : resolve(folder, envFile),
    startupTimeout: (keys.a2a_server_startup_timeout ?? 30) * 1000,
    restartOnCrash: keys.a2a_server_restart_on_crash ?? true,
    bearerToken: keys.a2a_bearer_token,
    bearerAlways: keys.a2a_bearer_always ?? false,
    inputRequiredTtl: keys.input_required_ttl ?? 300,
  };
}
