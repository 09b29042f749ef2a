import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Action, ActionResponse, Bridge } from '../../../bridge/action-types.ts';
import { bridgeAgents } from '../../../bridge/bridge.ts';
import type { NamedAgent } from '../../../bridge/actions/bridged-agent.ts';
import { nameAfterCard } from '../../../bridge/tools/name-after-card.ts';
import { openFollowUpStore } from '../../../bridge/follow-ups/open-follow-up-store.ts';
import { connect, type RemoteAgent } from '../../../client/connect.ts';
import { bearer } from '../../../client/credentials.ts';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import { rejectMemory } from '../../inputs/open-store.ts';
import type { StoreUrl } from '../../../store/url/parse-store-url.ts';
import { readVariable } from '../../inputs/read-variable.ts';
import { createColors } from '../../terminal/colors.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { joinLines } from '../../../primitives/text.ts';

/** Flags of `dragoman actions list`. */
export interface ActionsFlags {
  agent: string[];
  bearerEnv?: string;
  credentialOrigin: string[];
  output: OutputFormat;
}

/** Flags of `dragoman actions invoke`. */
export interface InvokeFlags extends ActionsFlags {
  file?: string[];
  session?: string;
  followUps?: string;
  /** In milliseconds. */
  maxWait: number;
}

/** Runs `dragoman actions list`. */
export async function runActionsListCommand(flags: ActionsFlags): Promise<void> {
  await withBridge(flags, undefined, async (bridge) => {
    const actions = bridge.actions();
    if (flags.output === 'json') print(JSON.stringify(actions, undefined, 2));
    else for (const action of actions) print(formatAction(action));
  });
}

/** Runs `dragoman actions invoke`. Exits with 1 if the call failed. */
export async function runActionsInvokeCommand(
  name: string,
  words: readonly string[],
  flags: InvokeFlags,
): Promise<void> {
  const abort = new AbortController();
  const onInterrupt = (): void => abort.abort();
  process.once('SIGINT', onInterrupt);
  try {
    await withBridge(flags, parseFollowUps(flags.followUps), async (bridge) => {
      const action = bridge.actions().find((each) => each.name === name);
      if (!action) {
        const names = bridge.actions().map((each) => each.name);
        throw new UsageError(`Unknown action: ${name}`, `Use one of ${names.join(', ')}.`);
      }
      const response = await bridge.invoke(name, parseParameters(action, words, flags.file ?? []), {
        signal: abort.signal,
        waitBudget: flags.maxWait,
        ...(flags.session !== undefined && { sessionId: flags.session }),
        ...(flags.output === 'text' && { onProgress: ({ message }) => printProgress(message) }),
      });
      print(
        flags.output === 'json' ? JSON.stringify(response, undefined, 2) : formatResponse(response, flags),
      );
      if (!response.success) process.exitCode = 1;
    });
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

async function withBridge(
  { agent: targets, bearerEnv, credentialOrigin }: ActionsFlags,
  followUpsStore: StoreUrl | undefined,
  work: (bridge: Bridge) => Promise<void>,
): Promise<void> {
  const auth = bearerEnv === undefined ? undefined : bearer(readVariable(bearerEnv, '--bearer-env'));
  const agents: (NamedAgent & { agent: RemoteAgent })[] = [];
  try {
    for (const target of targets) {
      const [, agentName = '', url = target] = /^([\w.-]+)=(https?:.*)$/i.exec(target) ?? [];
      const agent = connect(expectUrl(url), { credentialOrigins: credentialOrigin, ...(auth && { auth }) });
      agents.push({ agent, agentName });
    }
    const named = await Promise.all(
      agents.map(async ({ agent, agentName }) => ({
        agent,
        agentName: agentName || (await nameAfterCard(agent)),
      })),
    );
    const followUps = followUpsStore && (await openFollowUpStore(followUpsStore));
    const bridge = await bridgeAgents(named, { cardInterval: 0, ...(followUps && { followUps }) });
    try {
      await work(bridge);
    } finally {
      await bridge.close();
    }
  } finally {
    for (const { agent } of agents) await agent.close();
  }
}

/** Parses `--follow-ups`: the URL of a store, or a SQLite file. */
function parseFollowUps(text: string | undefined): StoreUrl | undefined {
  if (text === undefined) return undefined;
  return rejectMemory(
    /^(memory$|sqlite:|postgres(ql)?:)/.test(text) ? text : `sqlite:${text}`,
    '--follow-ups',
  );
}

/** Parses `name=value` words; words without a known name form the prompt. */
function parseParameters(
  { parameters, name }: Action,
  words: readonly string[],
  files: readonly string[],
): { [name: string]: unknown } {
  const properties = (parameters.properties ?? {}) as {
    readonly [name: string]: { readonly type?: unknown };
  };
  const values: { [name: string]: unknown } = {};
  const prompt: string[] = [];
  for (const word of words) {
    const [, key = '', value = ''] = /^([\w-]+)=(.*)$/s.exec(word) ?? [];
    // A word of the prompt may contain "=".
    if (!Object.hasOwn(properties, key)) prompt.push(word);
    else {
      const json = properties[key]?.type === 'string' ? undefined : parseJsonOrUndefined(value);
      values[key] = json === undefined ? value : json;
    }
  }
  if (prompt.length > 0) {
    if (!Object.hasOwn(properties, 'prompt')) {
      throw new UsageError(
        `Unknown parameter of ${name}: ${JSON.stringify(prompt[0])}`,
        `Pass parameters as name=value; the names are ${Object.keys(properties).join(', ')}.`,
      );
    }
    values.prompt = prompt.join(' ');
  }
  if (files.length > 0)
    values.files = files.map((path) => ({ name: basename(path), bytes: readBase64(path) }));
  return values;
}

function readBase64(path: string): string {
  try {
    return readFileSync(path).toString('base64');
  } catch (cause) {
    throw new UsageError(`Cannot read ${path}`, 'Name an existing file.', { cause });
  }
}

function formatAction({ name, description, parameters }: Action): string {
  const { bold, dim } = createColors(process.stdout);
  const required = new Set(Array.isArray(parameters.required) ? parameters.required : []);
  const names = Object.keys((parameters.properties ?? {}) as object).map((each) =>
    required.has(each) ? each : `[${each}]`,
  );
  return `${bold(name)} ${dim(names.join(' '))}\n  ${joinLines(description)}`;
}

function formatResponse(
  { message, files, data, followUpId, status, success, errorInfo }: ActionResponse,
  flags: InvokeFlags,
): string {
  const lines = success ? [message] : [`${status}: ${message}`];
  for (const { name, uri, size } of files)
    lines.push(`file: ${uri ?? name}${size === undefined ? '' : ` (${size} bytes)`}`);
  const { follow_up_id: _followUpId, ...rest } = data;
  if (Object.keys(rest).length > 0) lines.push(JSON.stringify(rest, undefined, 2));
  if (followUpId !== undefined) {
    lines.push(
      flags.followUps === undefined
        ? 'To answer later, invoke the action again with --follow-ups FILE.'
        : `follow-up ID: ${followUpId}`,
    );
  }
  if (errorInfo?.hint !== undefined) lines.push(errorInfo.hint);
  return lines.filter((line) => line !== '').join('\n');
}

function printProgress(message: string): void {
  const line = message.trim();
  if (line !== '') process.stderr.write(`… ${line}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
