import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Action, ActionResponse, Bridge } from '../../../bridge/action-types.ts';
import { bridgeAgents } from '../../../bridge/bridge.ts';
import type { NamedAgent } from '../../../bridge/actions/bridged-agent.ts';
import { sqliteFollowUpStore } from '../../../bridge/follow-ups/sqlite-follow-up-store.ts';
import { connect, type RemoteAgent } from '../../../client/connect.ts';
import { bearer } from '../../../client/credentials.ts';
import { createColors } from '../../terminal/colors.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** What `dragoman actions list` is told. */
export interface ActionsFlags {
  agent: string[];
  tokenEnv?: string;
  output: 'text' | 'json';
}

/** What `dragoman actions invoke` is told beside that. */
export interface InvokeFlags extends ActionsFlags {
  file?: string[];
  session?: string;
  followUps?: string;
  /** In seconds. */
  wait: number;
}

/** Prints the actions of agents. */
export async function runActionsListCommand(flags: ActionsFlags): Promise<void> {
  await withBridge(flags, undefined, async (made) => {
    const actions = made.actions();
    if (flags.output === 'json') print(JSON.stringify(actions, undefined, 2));
    else for (const action of actions) print(described(action));
  });
}

/** Calls an action. The exit code says whether it succeeded. */
export async function runActionsInvokeCommand(
  name: string,
  given: readonly string[],
  flags: InvokeFlags,
): Promise<void> {
  const stop = new AbortController();
  const stopping = (): void => stop.abort();
  process.once('SIGINT', stopping);
  try {
    await withBridge(flags, flags.followUps, async (made) => {
      const action = made.actions().find((each) => each.name === name);
      if (!action) {
        const names = made.actions().map((each) => each.name);
        throw new UsageError(`there is no action ${name}`, `There are ${names.join(', ')}.`);
      }
      const response = await made.invoke(name, parametersOf(action, given, flags.file ?? []), {
        signal: stop.signal,
        waitBudget: flags.wait * 1_000,
        ...(flags.session !== undefined && { sessionId: flags.session }),
        ...(flags.output === 'text' && { onProgress: ({ message }) => tell(message) }),
      });
      print(flags.output === 'json' ? JSON.stringify(response, undefined, 2) : answered(response, flags));
      if (!response.success) process.exitCode = 1;
    });
  } finally {
    process.removeListener('SIGINT', stopping);
  }
}

async function withBridge(
  { agent: places, tokenEnv }: ActionsFlags,
  followUpsFile: string | undefined,
  work: (made: Bridge) => Promise<void>,
): Promise<void> {
  const auth = tokenEnv === undefined ? undefined : bearer(tokenIn(tokenEnv));
  const agents: (NamedAgent & { agent: RemoteAgent })[] = [];
  try {
    for (const place of places) {
      const [, given, url = place] = /^([\w.-]+)=(https?:.*)$/i.exec(place) ?? [];
      if (!URL.canParse(url))
        throw new UsageError(`${place} is no URL`, 'Say --agent http://localhost:4000.');
      const agent = connect(url, auth ? { auth } : {});
      agents.push({ agent, agentName: given ?? '' });
    }
    const named = await Promise.all(agents.map(withName));
    const followUps =
      followUpsFile === undefined ? undefined : await sqliteFollowUpStore({ file: followUpsFile });
    const made = await bridgeAgents(named, { cardInterval: 0, ...(followUps && { followUps }) });
    try {
      await work(made);
    } finally {
      await made.close();
    }
  } finally {
    for (const { agent } of agents) await agent.close();
  }
}

function tokenIn(variable: string): string {
  const token = process.env[variable];
  if (token) return token;
  throw new UsageError(
    `the environment has no ${variable}`,
    'Set it to the token, or leave --token-env out.',
  );
}

/** An agent that was given no name is called as its card says. */
async function withName({ agent, agentName }: NamedAgent & { agent: RemoteAgent }): Promise<NamedAgent> {
  if (agentName !== '') return { agent, agentName };
  const { name } = await agent.card();
  return {
    agent,
    agentName:
      name
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
        .replaceAll(/^_+|_+$/g, '') || 'agent',
  };
}

/** Reads `name=value`; what has no name is the prompt. */
function parametersOf(
  { parameters, name }: Action,
  given: readonly string[],
  files: readonly string[],
): { [name: string]: unknown } {
  const properties = (parameters.properties ?? {}) as {
    readonly [name: string]: { readonly type?: unknown };
  };
  const found: { [name: string]: unknown } = {};
  const words: string[] = [];
  for (const each of given) {
    const [, key = '', value = ''] = /^([\w-]+)=(.*)$/s.exec(each) ?? [];
    // A prompt may have a sign of equality in it.
    if (!Object.hasOwn(properties, key)) words.push(each);
    else found[key] = properties[key]?.type === 'string' ? value : jsonOr(value);
  }
  if (words.length > 0) {
    if (!Object.hasOwn(properties, 'prompt')) {
      throw new UsageError(
        `${name} does not know what to do with ${JSON.stringify(words[0])}`,
        `Its parameters are name=value, with ${Object.keys(properties).join(', ')}.`,
      );
    }
    found.prompt = words.join(' ');
  }
  if (files.length > 0) found.files = files.map((path) => ({ name: basename(path), bytes: bytesIn(path) }));
  return found;
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function bytesIn(path: string): string {
  try {
    return readFileSync(path).toString('base64');
  } catch (cause) {
    throw new UsageError(`${path} cannot be read`, 'Name a file that is there.', cause);
  }
}

function described({ name, description, parameters }: Action): string {
  const paint = createColors(process.stdout);
  const required = new Set(Array.isArray(parameters.required) ? parameters.required : []);
  const names = Object.keys((parameters.properties ?? {}) as object).map((each) =>
    required.has(each) ? each : `[${each}]`,
  );
  return `${paint.bold(name)} ${paint.dim(names.join(' '))}\n  ${description.replaceAll(/\s*\n\s*/g, ' ')}`;
}

function answered(
  { message, files, data, followUpId, status, success, errorInfo }: ActionResponse,
  flags: InvokeFlags,
): string {
  const lines = success ? [message] : [`${status}: ${message}`];
  for (const { name, uri, size } of files)
    lines.push(`file: ${uri ?? name}${size === undefined ? '' : ` (${size} bytes)`}`);
  const { follow_up_id: _said, ...rest } = data;
  if (Object.keys(rest).length > 0) lines.push(JSON.stringify(rest, undefined, 2));
  if (followUpId !== undefined) {
    lines.push(
      flags.followUps === undefined
        ? 'To be able to go on, call again with --follow-ups FILE.'
        : `follow-up ID: ${followUpId}`,
    );
  }
  if (errorInfo?.hint !== undefined) lines.push(errorInfo.hint);
  return lines.filter((line) => line !== '').join('\n');
}

function tell(message: string): void {
  const line = message.trim();
  if (line !== '') process.stderr.write(`… ${line}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
