import { memoryArtifactStore } from '../../../artifacts/stores/memory.ts';
import type { Bridge } from '../../../bridge/action-types.ts';
import { bridgeAgents } from '../../../bridge/bridge.ts';
import { type RunningMcpServer, serveMcp } from '../../../bridge/mcp/server/serve-mcp.ts';
import { supervise } from '../../../bridge/supervisor/supervise.ts';
import { supervisedAgent } from '../../../bridge/supervisor/supervised-agent.ts';
import { connect } from '../../../client/connect.ts';
import { bearer } from '../../../client/credentials.ts';
import { interpolateVariables } from '../../../documents/interpolate.ts';
import { openBridgeFile } from './bridge-file.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { type LogFormat, openLogs } from '../../terminal/log.ts';
import { printError, UsageError } from '../../terminal/usage-error.ts';
import { stopOnSignals } from '../../process/shutdown.ts';

/** What `dragoman bridge` is told. */
export interface BridgeFlags {
  config?: string;
  agent?: string[];
  command?: string;
  url?: string;
  mcp: 'stdio' | 'http';
  port: number;
  header?: string[];
  bearer?: string[];
  token?: string;
  wait: number;
  refresh: number;
  output: 'text' | 'json';
  log: LogFormat;
}

/** Shows agents as tools until the client is gone or a signal comes. Standard output is for MCP alone. */
export async function runBridgeCommand(flags: BridgeFlags): Promise<void> {
  const places = placesOf(flags);
  const headers = byAgent(flags.header ?? [], '--header', places);
  const tokens = byAgent(flags.bearer ?? [], '--bearer', places);
  const token = flags.token === undefined ? undefined : variable(flags.token, '--token');
  for (const name of ['wait', 'refresh'] as const)
    if (!(flags[name] > 0))
      throw new UsageError(`--${name} must be a number of seconds`, `Say --${name} 60.`);
  if (flags.output === 'json' && flags.mcp === 'stdio')
    throw new UsageError('standard output is for MCP alone', 'Leave -o json out, or say --mcp http.');
  const agents = places.map(({ name, url }) => {
    const [tokenName] = tokens.get(name) ?? [];
    const options = {
      headers: Object.fromEntries((headers.get(name) ?? []).map(readHeader)),
      ...(tokenName !== undefined && { auth: bearer(variable(tokenName, '--bearer')) }),
    };
    return { agentName: name, agent: connect(url, options) };
  });
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
      const supervised = supervise({ command: flags.command, url: places.at(-1)?.url ?? '', log });
      closers.push(() => supervised.stop());
      await supervised.whenReady();
      for (const last of agents.slice(-1)) last.agent = supervisedAgent(supervised, last.agent);
    }
    await Promise.all(opened.map(({ supervised }) => supervised.whenReady()));
    const artifacts = memoryArtifactStore();
    const cardInterval = flags.refresh * 1_000;
    const all = [...agents, ...opened.map((each) => each.bridge)];
    const bridge = await bridgeAgents(all, { artifacts, log, whenUnreachable: 'retry', cardInterval });
    closers.push(() => bridge.close());
    const running = await serveMcp(bridge, {
      ...(flags.mcp === 'stdio'
        ? { stdio: true }
        : { http: { port: flags.port, ...(token !== undefined && { token }) } }),
      waitBudget: flags.wait * 1_000,
      artifacts,
      log,
    });
    closers.push(() => running.close());
    tell(running, bridge, flags.output);
    await running.ended;
  } catch (cause) {
    await stop();
    throw toListenError(cause, { port: flags.port });
  }
  await stop();
}

function tell({ url }: RunningMcpServer, bridge: Bridge, output: BridgeFlags['output']): void {
  const actions = bridge.actions().map(({ name }) => name);
  if (output === 'json') process.stdout.write(`${JSON.stringify({ url, actions })}\n`);
  const where = url === undefined ? 'standard input and output' : url;
  process.stderr.write(`listening on ${where}\n${actions.map((name) => `  ${name}\n`).join('')}`);
}

interface Place {
  readonly name: string;
  readonly url: string;
}

/** Reads which agents there are; the one of the command is the last. */
function placesOf({ config, agent = [], command, url }: BridgeFlags): Place[] {
  if ((command === undefined) !== (url === undefined))
    throw new UsageError(
      '--command and --url belong together',
      'Say which program to start and where it answers: --command "node agent.js" --url http://localhost:4000.',
    );
  const places = [...agent, ...(url === undefined ? [] : [url])].map(readPlace);
  if (places.length === 0 && config === undefined)
    throw new UsageError(
      'There is no agent to bridge',
      'Name one with --agent URL, or a file with --config, or start one with --command.',
    );
  const names = new Set(places.map(({ name }) => name));
  if (names.size < places.length)
    throw new UsageError('Two agents have the same name', 'Give them others: --agent weather=https://…');
  return places;
}

function readPlace(text: string): Place {
  const [, given, url = ''] = /^(?:([\w.-]+)=)?(.*)$/s.exec(text) ?? [];
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`${text} is not the URL of an agent`, 'A URL begins with http:// or https://.');
  const { hostname, port } = new URL(url);
  return {
    name:
      given ??
      [hostname, port]
        .filter(Boolean)
        .join('_')
        .replaceAll(/[^\w-]/g, '_'),
    url,
  };
}

/** Sorts `[name=]value` by agent. Without a name it is for the only one. */
function byAgent(texts: readonly string[], flag: string, places: readonly Place[]): Map<string, string[]> {
  const sorted = new Map<string, string[]>();
  for (const text of texts) {
    const [, named, rest = ''] = /^(?:([\w.-]+)=)?(.*)$/s.exec(text) ?? [];
    const isName = named !== undefined && places.some(({ name }) => name === named);
    const name = isName ? named : places.length === 1 ? places[0]?.name : undefined;
    if (name === undefined)
      throw new UsageError(
        `${flag} does not say which agent it is for`,
        `Begin it with the name of one: ${places.map((place) => `${place.name}=`).join(', ')}`,
      );
    sorted.set(name, [...(sorted.get(name) ?? []), isName ? rest : text]);
  }
  return sorted;
}

/** Reads `Name: value` and fills in what comes from the environment. */
function readHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError('--header is not a header', "Write it as 'Name: value'.");
  const filled = interpolateVariables(value, process.env, (_, missing) => {
    throw unset(missing, '--header');
  });
  return [name.toLowerCase(), String(filled)];
}

function variable(name: string, flag: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw unset(name, flag);
  return value;
}

function unset(name: string, flag: string): UsageError {
  return new UsageError(`${flag} needs ${name}, which is not set`, `Set the environment variable ${name}.`);
}
