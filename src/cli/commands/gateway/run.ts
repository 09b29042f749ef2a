import { DocumentError } from '../../../documents/diagnostic.ts';
import { readGatewayConfig } from '../../../gateway/config/read-gateway-config.ts';
import { type RunningGateway, runGateway } from '../../../gateway/run-gateway.ts';
import type { AgentSettings, GatewaySettings } from '../../../gateway/gateway-settings.ts';
import { createColors } from '../../terminal/colors.ts';
import { printDiagnostics, printValidFile, invalidFileError } from '../../terminal/print-diagnostics.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { loadAgent } from '../../inputs/load-agent.ts';
import { type LogFormat, type CliLogs, openLogs } from '../../terminal/log.ts';
import { printError } from '../../terminal/usage-error.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';

/** What `dragoman gateway` is told. */
export interface GatewayFlags {
  config: string;
  check?: boolean;
  port?: number;
  host?: string;
  output: 'text' | 'json';
  log?: LogFormat;
}

/** Runs a gateway until a signal comes, or says what is wrong with its file. */
export async function runGatewayCommand(flags: GatewayFlags): Promise<void> {
  const settings = readOrEnd(flags);
  if (flags.check) {
    printValidFile({ file: flags.config, agents: settings.agents.map(({ name }) => name) }, flags.output);
    return;
  }
  const logs = await openLogs(flags.log);
  const running = await started(settings, logs);
  stopOnSignals(() => running.stop(), printError, settings.drain);
  process.on('SIGHUP', () => void reload(running, flags, logs));
  // Whoever reads the first line only may close the pipe; the agents are shown on.
  process.stdout.on('error', () => {});
  const isJson = flags.output === 'json';
  const head = isJson ? process.stderr : process.stdout;
  if (running.url !== undefined) head.write(`listening on ${running.url}\n`);
  process.stdout.write(`${isJson ? jsonSummary(running) : textSummary(running)}\n`);
}

/** @throws DocumentError where the file is wrong. */
function read({ config, port, host }: GatewayFlags): GatewaySettings {
  const text = readInputFile(config, 'Name the file of the gateway with -c FILE.');
  const settings = readGatewayConfig(text, config, process.env);
  const { listen } = settings;
  return listen
    ? { ...settings, listen: { host: host ?? listen.host, port: port ?? listen.port } }
    : settings;
}

function readOrEnd(flags: GatewayFlags): GatewaySettings {
  try {
    return read(flags);
  } catch (thrown) {
    throw thrown instanceof DocumentError ? invalidFileError(thrown) : thrown;
  }
}

async function started(settings: GatewaySettings, logs: CliLogs): Promise<RunningGateway> {
  try {
    return await runGateway(settings, {
      log: logs.agent,
      requestLog: logs.requests,
      onError: logs.fault,
      loadModule: loadAgent,
    });
  } catch (cause) {
    throw toListenError(cause, { port: settings.listen?.port, host: settings.listen?.host });
  }
}

/** Goes over to what the file says now; what is wrong with it changes nothing. */
async function reload(running: RunningGateway, flags: GatewayFlags, { agent: log }: CliLogs): Promise<void> {
  try {
    const { added, removed, changed, needsRestart: later } = await running.reload(read(flags));
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
    const isTold = error instanceof DocumentError;
    if (isTold) printDiagnostics(error, process.stderr);
    const message = `${flags.config} ${isTold ? 'is wrong' : 'could not be taken over'}, so everything stays as it was`;
    log({ level: 'error', message, ...(!isTold && { error }) });
  }
}

function whereOf(
  { name, exposeOnHttp: onHttp, exposeOnMesh: onMesh }: AgentSettings,
  url: string | undefined,
): string[] {
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
  const { bold, cyan, dim } = createColors(process.stdout);
  const lines = [''];
  for (const each of settings.agents) {
    lines.push(`  ${bold(each.name)} ${dim(`from ${fromOf(each)}`)}`);
    for (const place of whereOf(each, url)) lines.push(`    ${cyan(place)}`);
  }
  if (url !== undefined) lines.push('', `  ${dim('list  ')}  ${cyan(`${url}/agents`)}`);
  lines.push('', `  ${dim('Ctrl-C stops it; SIGHUP reads the file again.')}`, '');
  return lines.join('\n');
}
