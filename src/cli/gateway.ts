import { readFile } from 'node:fs/promises';
import { DocumentError } from '../documents/complaint.ts';
import { readGatewayConfig } from '../gateway/config.ts';
import { type RunningGateway, runGateway } from '../gateway/run.ts';
import type { AgentSettings, GatewaySettings } from '../gateway/settings.ts';
import { coloursFor } from './colours.ts';
import { loadAgent } from './load-agent.ts';
import { type LogForm, type Logs, openLogs } from './log.ts';
import { complain, Mistake } from './mistake.ts';
import { stopOnSignals } from './stopping.ts';

/** What `dragoman gateway` is told. */
export interface GatewayFlags {
  config: string;
  check?: boolean;
  port?: number;
  host?: string;
  output: 'text' | 'json';
  log?: LogForm;
}

/** Runs a gateway until a signal comes, or says what is wrong with its file. */
export async function gateway(flags: GatewayFlags): Promise<void> {
  const settings = await read(flags);
  if (!settings) {
    process.exitCode = 1;
    return;
  }
  if (flags.check) {
    const { agents } = settings;
    process.stdout.write(
      `${flags.config} is right: ${agents.length} ${agents.length === 1 ? 'agent' : 'agents'}\n`,
    );
    return;
  }
  const logs = await openLogs(flags.log);
  const running = await started(settings, logs);
  stopOnSignals(() => running.stop(), complain, settings.drain);
  process.on('SIGHUP', () => void reload(running, flags, logs));
  // Whoever reads the first line only may close the pipe; the agents are shown on.
  process.stdout.on('error', () => {});
  if (running.url !== undefined) process.stdout.write(`listening on ${running.url}\n`);
  process.stdout.write(`${flags.output === 'json' ? jsonSummary(running) : textSummary(running)}\n`);
}

/** Reads the file. @returns undefined where it is wrong, which is written to standard error. */
async function read({ config, port, host }: GatewayFlags): Promise<GatewaySettings | undefined> {
  let text: string;
  try {
    text = await readFile(config, 'utf8');
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new Mistake(`${config} ${why}`, 'Name the file of the gateway with -c FILE.', cause);
  }
  try {
    const settings = readGatewayConfig(text, config, process.env);
    const { listen } = settings;
    return listen
      ? { ...settings, listen: { host: host ?? listen.host, port: port ?? listen.port } }
      : settings;
  } catch (thrown) {
    if (!(thrown instanceof DocumentError)) throw thrown;
    process.stderr.write(`${thrown.message}\n`);
    return undefined;
  }
}

async function started(settings: GatewaySettings, logs: Logs): Promise<RunningGateway> {
  try {
    return await runGateway(settings, {
      log: logs.agent,
      requests: logs.requests,
      fault: logs.fault,
      loadModule: loadAgent,
    });
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'EADDRINUSE')
      throw new Mistake(
        `port ${settings.listen?.port} is in use`,
        'Choose another with --port N, or --port 0 for any free one.',
        cause,
      );
    throw cause;
  }
}

/** Goes over to what the file says now; what is wrong with it changes nothing. */
async function reload(running: RunningGateway, flags: GatewayFlags, { agent: log }: Logs): Promise<void> {
  try {
    const settings = await read(flags);
    if (!settings) {
      log({ level: 'error', message: `${flags.config} is wrong, so everything stays as it was` });
      return;
    }
    const { added, removed, changed, later } = await running.reload(settings);
    const told = [
      ...added.map((name) => `+${name}`),
      ...removed.map((name) => `-${name}`),
      ...changed.map((name) => `~${name}`),
    ];
    log({
      level: 'info',
      message: `${flags.config} was read again: ${told.join(' ') || 'no agent changed'}`,
    });
    for (const each of later)
      log({
        level: 'warn',
        message: `${each} changed in ${flags.config}, which takes effect after a restart`,
      });
  } catch (error) {
    log({
      level: 'error',
      message: `${flags.config} could not be taken over, so everything stays as it was`,
      error,
    });
  }
}

function whereOf({ name, onHttp, onMesh }: AgentSettings, url: string | undefined): string[] {
  const places: string[] = [];
  if (onHttp && url !== undefined) places.push(`${url}/agents/${name}`);
  if (onMesh) places.push(`${onMesh.url.replace(/\/\/[^@/]*@/, '//')} (${onMesh.namespace})`);
  return places;
}

function fromOf({ source }: AgentSettings): string {
  if (source.kind === 'url') return source.config.url;
  return source.kind === 'mesh' ? `${source.name} on the mesh` : source.file;
}

function jsonSummary({ url, settings }: RunningGateway): string {
  const agents = settings.agents.map((each) => ({
    name: each.name,
    from: fromOf(each),
    at: whereOf(each, url),
  }));
  return JSON.stringify({ url, agents });
}

function textSummary({ url, settings }: RunningGateway): string {
  const { bold, cyan, dim } = coloursFor(process.stdout);
  const lines = [''];
  for (const each of settings.agents) {
    lines.push(`  ${bold(each.name)} ${dim(`from ${fromOf(each)}`)}`);
    for (const place of whereOf(each, url)) lines.push(`    ${cyan(place)}`);
  }
  if (url !== undefined) lines.push('', `  ${dim('list  ')}  ${cyan(`${url}/agents`)}`);
  lines.push('', `  ${dim('Ctrl-C stops it; SIGHUP reads the file again.')}`, '');
  return lines.join('\n');
}
