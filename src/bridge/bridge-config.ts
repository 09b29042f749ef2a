import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { type Diagnostic, DocumentError } from '../documents/diagnostic.ts';
import { Document } from '../documents/document.ts';
import { interpolateVariables } from '../documents/interpolate.ts';
import { booleanFieldSchema, secondsFieldSchema, textFieldSchema } from '../documents/field-schemas.ts';
import { toDiagnostics, formatPath } from '../documents/schema-issues.ts';
import { invalidField } from '../protocol/errors.ts';

type Environment = { readonly [name: string]: string | undefined };

/** The keys of one agent, as people write them. */
const agentSchema = z.strictObject({
  agent_name: textFieldSchema
    .regex(/^[^/\s]+$/, 'must be a name without spaces and slashes')
    .describe('What actions begin with: agent_name/skill_id.'),
  a2a_server_url: z
    .url({ protocol: /^https?$/, error: 'must be a whole address, such as http://localhost:4000' })
    .describe('Where the agent is.'),
  a2a_server_command: z
    .union([textFieldSchema, z.array(textFieldSchema).min(1)])
    .optional()
    .describe('Starts the agent: a command line without a shell, or its words. Otherwise it runs already.'),
  a2a_server_working_dir: textFieldSchema.optional().describe('Where the command runs, seen from this file.'),
  a2a_server_env_file: textFieldSchema
    .optional()
    .describe('NAME=value lines for the command, seen from this file.'),
  a2a_server_startup_timeout: secondsFieldSchema
    .optional()
    .describe('For how many seconds it may take until the agent answers. Default 30.'),
  a2a_server_restart_on_crash: booleanFieldSchema
    .optional()
    .describe('Starts the agent again when it crashes. Default true.'),
  a2a_bearer_token: textFieldSchema.optional().describe('A token that the agent wants to see.'),
  input_required_ttl: secondsFieldSchema
    .optional()
    .describe('For how many seconds a question of the agent can be answered. Default 300.'),
});

/** The file of a bridge: one agent, or several under `agents`. */
const bridgeFileSchema = z.union([agentSchema, bridgeFileOf(agentSchema)]);

function bridgeFileOf<T extends z.ZodType>(agent: T) {
  return z.strictObject({ agents: z.array(agent).min(1, 'must name at least one agent') });
}

/** Describes the file for editors. Where an agent is may be left to the environment. */
export function bridgeJsonSchema(): { readonly [keyword: string]: unknown } {
  const agent = agentSchema.partial({ a2a_server_url: true });
  return { ...z.toJSONSchema(z.union([agent, bridgeFileOf(agent)])) };
}

type AgentKeys = z.output<typeof agentSchema>;

/** An agent to be bridged to, and how it is started. */
export interface BridgeAgentConfig {
  readonly agentName: string;
  readonly url: string;
  /** Undefined where the agent runs already. */
  readonly command: string | readonly string[] | undefined;
  readonly workingDir: string | undefined;
  readonly envFile: string | undefined;
  /** Milliseconds. */
  readonly startupTimeout: number;
  readonly restartOnCrash: boolean;
  readonly bearerToken: string | undefined;
  /** Seconds. */
  readonly inputRequiredTtl: number;
}

/**
 * Reads the file of a bridge. What it does not say about an agent is taken from the environment, under names that
 * begin with that of the agent, such as `WEATHER_A2A_SERVER_URL`.
 *
 * @param environment - what `${NAME}` and `${NAME, default}` stand for, too.
 * @throws DocumentError with the place of everything that is wrong.
 */
export function readBridgeConfig(text: string, file: string, environment: Environment): BridgeAgentConfig[] {
  const document = Document.parse(text, file);
  const complaints: Diagnostic[] = [];
  const filled = interpolateVariables(document.value, environment, (path, name) => {
    complaints.push(document.diagnostic(path, `environment variable ${name} is not set and has no default`));
  });
  // What is not set is empty, and would be complained about twice.
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  const { agents, single } = listed(filled);
  const completed = agents.map((each) => withEnvironment(each, environment));
  const checked = document.check(
    bridgeFileSchema,
    single ? completed[0] : { ...(filled as object), agents: completed },
  );
  const configs = ('agents' in checked ? checked.agents : [checked]).map((each) =>
    configOf(each, dirname(file)),
  );
  const names = new Set<string>();
  for (const [index, { agentName }] of configs.entries()) {
    if (names.has(agentName))
      complaints.push(
        document.diagnostic(['agents', index, 'agent_name'], 'is the name of another agent too'),
      );
    names.add(agentName);
  }
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  return configs;
}

/**
 * Reads what the environment says about an agent: `WEATHER_A2A_SERVER_URL`, `WEATHER_A2A_SERVER_COMMAND` and so on.
 *
 * @throws A2AError with the name of what is missing or wrong.
 */
export function bridgeConfigFromEnvironment(agentName: string, environment: Environment): BridgeAgentConfig {
  const given = withEnvironment({ agent_name: agentName }, environment);
  const result = agentSchema.safeParse(given, { reportInput: true });
  if (result.success) return configOf(result.data, '.');
  const [first] = toDiagnostics(result.error.issues);
  const key = formatPath(first?.path ?? []);
  const name = key === 'agent_name' ? key : (namesOf(agentName, key)[0] ?? key);
  throw invalidField(name, first?.message ?? 'is wrong');
}

/** The agents of a document, of whatever form; the check comes later. */
function listed(value: unknown): { agents: readonly unknown[]; single: boolean } {
  const agents = (value as { agents?: unknown } | null | undefined)?.agents;
  return Array.isArray(agents) ? { agents, single: false } : { agents: [value], single: true };
}

/** Adds what the environment says. What is empty was not said. */
function withEnvironment(value: unknown, environment: Environment): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const given = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== '' && each !== null));
  const { agent_name: name } = given;
  if (typeof name !== 'string') return given;
  for (const key of Object.keys(agentSchema.shape)) {
    const found = namesOf(name, key).find((each) => (environment[each] ?? '') !== '');
    if (key !== 'agent_name' && found !== undefined) given[key] ??= environment[found];
  }
  return given;
}

/** What a key is called in the environment; those without `server` in their names may be written with it. */
function namesOf(agentName: string, key: string): string[] {
  const prefix = agentName.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  const short = key.replace(/^a2a_(server_)?/, '');
  return [key, `a2a_${short}`, `a2a_server_${short}`].map((each) => `${prefix}_${each.toUpperCase()}`);
}

function configOf(keys: AgentKeys, folder: string): BridgeAgentConfig {
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
    inputRequiredTtl: keys.input_required_ttl ?? 300,
  };
}
