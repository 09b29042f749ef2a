import { memoryArtifactStore } from '../../../artifacts/stores/memory.ts';
import type { Bridge } from '../../../bridge/action-types.ts';
import { bridgeAgents } from '../../../bridge/bridge.ts';
import { openFollowUpStore } from '../../../bridge/follow-ups/open-follow-up-store.ts';
import { type RunningMcpServer, serveMcp } from '../../../bridge/mcp/server/serve-mcp.ts';
import { supervise } from '../../../bridge/supervisor/supervise.ts';
import { supervisedAgent } from '../../../bridge/supervisor/supervised-agent.ts';
import { connect } from '../../../client/connect.ts';
import { bearer } from '../../../client/credentials.ts';
import { interpolateVariables } from '../../../documents/interpolate.ts';
import { openBridgeFile } from './bridge-file.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { type LogFormat, openLogs } from '../../terminal/log.ts';
import { printError } from '../../terminal/print-error.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { parseStore } from '../../inputs/open-store.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import { readVariable, unsetVariableError } from '../../inputs/read-variable.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { stopOnSignals } from '../../process/shutdown.ts';

/** Flags of `dragoman bridge`. */
export interface BridgeFlags {
  config?: string;
  agent?: string[];
  command?: string;
  commandUrl?: string;
  mcp: 'stdio' | 'http';
  port: number;
  header?: string[];
  bearerEnv?: string[];
  credentialOrigin: string[];
  clientTokenEnv?: string;
  /** In milliseconds. */
  maxWait: number;
  /** In milliseconds. */
  cardInterval: number;
  store?: string;
  output: OutputFormat;
  log: LogFormat;
}

/** Runs `dragoman bridge` until the MCP client disconnects or a signal arrives. */
export async function runBridgeCommand(flags: BridgeFlags): Promise<void> {
  const targets = parseTargets(flags);
  const headers = groupByAgent(flags.header ?? [], '--header', targets);
  const tokens = groupByAgent(flags.bearerEnv ?? [], '--bearer-env', targets);
  const { maxWait, cardInterval, clientTokenEnv } = flags;
  const clientToken =
    clientTokenEnv === undefined ? undefined : readVariable(clientTokenEnv, '--client-token-env');
  if (flags.output === 'json' && flags.mcp === 'stdio')
    throw new UsageError(
      '-o json cannot be used with --mcp stdio: standard output carries MCP messages',
      'Omit -o json, or use --mcp http.',
    );
  const agents = targets.map(({ name, url }) => {
    const [tokenVariable] = tokens.get(name) ?? [];
    const options = {
      headers: Object.fromEntries((headers.get(name) ?? []).map(parseHeader)),
      credentialOrigins: flags.credentialOrigin,
      ...(tokenVariable !== undefined && { auth: bearer(readVariable(tokenVariable, '--bearer-env')) }),
    };
    return { agentName: name, agent: connect(url, options) };
  });
  const store = flags.store === undefined ? undefined : parseStore(flags.store);
  const { agent: log } = await openLogs(flags.log);
  const opened = flags.config === undefined ? [] : openBridgeFile(flags.config, log);
  const closers = [...agents.map(({ agent }) => agent), ...opened].map(
    (each) => (): Promise<void> => each.close(),
  );
  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    for (const close of closers.toReversed()) await close();
  };
  stopOnSignals(stop, printError);
  try {
    if (flags.command !== undefined) {
      const supervised = supervise({ command: flags.command, url: targets.at(-1)?.url ?? '', log });
      closers.push(() => supervised.stop());
      await supervised.whenReady();
      for (const last of agents.slice(-1)) last.agent = supervisedAgent(supervised, last.agent);
    }
    await Promise.all(opened.map(({ supervised }) => supervised.whenReady()));
    const artifacts = memoryArtifactStore();
    const all = [...agents, ...opened.map((each) => each.bridge)];
    const followUps = store && (await openFollowUpStore(store));
    const bridge = await bridgeAgents(all, {
      artifacts,
      log,
      whenUnreachable: 'retry',
      cardInterval,
      ...(followUps && { followUps }),
    });
    closers.push(() => bridge.close());
    const running = await serveMcp(bridge, {
      ...(flags.mcp === 'stdio'
        ? { stdio: true }
        : { http: { port: flags.port, ...(clientToken !== undefined && { token: clientToken }) } }),
      waitBudget: maxWait,
      artifacts,
      log,
    });
    closers.push(() => running.close());
    printSummary(running, bridge, flags.output);
    await running.ended;
  } catch (cause) {
    await stop();
    throw toListenError(cause, { port: flags.port });
  }
  await stop();
}

function printSummary({ url }: RunningMcpServer, bridge: Bridge, output: OutputFormat): void {
  const actions = bridge.actions().map(({ name }) => name);
  if (output === 'json') process.stdout.write(`${JSON.stringify({ url, actions })}\n`);
  process.stderr.write(
    `listening on ${url ?? 'standard input and output'}\n${actions.map((name) => `  ${name}\n`).join('')}`,
  );
}

interface Target {
  readonly name: string;
  readonly url: string;
}

/** Parses the agents of the command line; the agent of `--command` is the last one. */
function parseTargets({ config, agent = [], command, commandUrl }: BridgeFlags): Target[] {
  if ((command === undefined) !== (commandUrl === undefined))
    throw new UsageError(
      '--command and --command-url must be used together',
      'Pass the command and the URL of its agent: --command "node agent.js" --command-url http://localhost:4000.',
    );
  const targets = [...agent, ...(commandUrl === undefined ? [] : [commandUrl])].map(parseTarget);
  if (targets.length === 0 && config === undefined)
    throw new UsageError(
      'Missing agent',
      'Name an agent with --agent URL or a file with --config, or start an agent with --command.',
    );
  const names = new Set(targets.map(({ name }) => name));
  if (names.size < targets.length)
    throw new UsageError('Two agents have the same name', 'Name them differently: --agent weather=https://…');
  return targets;
}

function parseTarget(text: string): Target {
  const [, name, url = ''] = /^(?:([\w.-]+)=)?(.*)$/s.exec(text) ?? [];
  const { hostname, port } = new URL(expectUrl(url));
  return {
    name:
      name ??
      [hostname, port]
        .filter(Boolean)
        .join('_')
        .replaceAll(/[^\w-]/g, '_'),
    url,
  };
}

/** Groups `[name=]value` flags by agent. The name may be omitted if there is only one agent. */
function groupByAgent(
  values: readonly string[],
  flag: string,
  targets: readonly Target[],
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const value of values) {
    const [, prefix, rest = ''] = /^(?:([\w.-]+)=)?(.*)$/s.exec(value) ?? [];
    const isName = prefix !== undefined && targets.some(({ name }) => name === prefix);
    const name = isName ? prefix : targets.length === 1 ? targets[0]?.name : undefined;
    if (name === undefined)
      throw new UsageError(
        `${flag} needs the name of an agent, as in name=value`,
        `Start the value with one of ${targets.map((target) => `${target.name}=`).join(', ')}.`,
      );
    groups.set(name, [...(groups.get(name) ?? []), isName ? rest : value]);
  }
  return groups;
}

/** Parses `Name: value` and interpolates environment variables. */
function parseHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError('Invalid header', "Write it in quotes: --header 'Name: value'.");
  const interpolated = interpolateVariables(value, process.env, (_, missing) => {
    throw unsetVariableError(missing, '--header');
  });
  return [name.toLowerCase(), String(interpolated)];
}
