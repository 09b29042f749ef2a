import { resolve } from 'node:path';
import { authenticatesClients, readTlsFiles } from '../../../gateway/config/tls-files.ts';
import { readGatewayConfig } from '../../../gateway/config/read-gateway-config.ts';
import { type RunningGateway, runGateway } from '../../../gateway/run-gateway.ts';
import {
  type AgentSettings,
  formatUpstream,
  type GatewaySettings,
} from '../../../gateway/gateway-settings.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { createColors } from '../../terminal/colors.ts';
import { printValidFile, readValidFile } from '../../terminal/print-diagnostics.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { startListening } from '../../terminal/listen-error.ts';
import { loadAgent } from '../../inputs/load-agent.ts';
import { type LogFormat, type CliLogs, openLogs } from '../../terminal/log.ts';
import { printError } from '../../terminal/print-error.ts';
import { type OutputFormat, warnIfExposed } from '../../inputs/shared-options.ts';
import { formatChanges, reloadFile } from '../../process/reload-file.ts';
import { exportTelemetry } from '../../process/export-telemetry.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { resolveStore } from '../../inputs/open-store.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';

/** Flags of `dragoman gateway`. */
export interface GatewayFlags {
  config?: string;
  check?: boolean;
  port?: number;
  host?: string;
  store?: string;
  tlsCert?: string;
  tlsKey?: string;
  tlsClientCa?: string;
  output: OutputFormat;
  log?: LogFormat;
  otlp?: string;
}

/** Runs `dragoman gateway` until a signal arrives, or validates its file with `--check`. */
export async function runGatewayCommand({ config, ...more }: GatewayFlags): Promise<void> {
  if (config === undefined)
    throw new UsageError('The configuration file is missing', 'Name a gateway file with -c FILE.');
  const flags = { ...more, config };
  const settings = readValidFile(() => readConfig(flags));
  checkTlsFiles(settings, flags);
  if (flags.check) {
    const agents = settings.agents.map(({ name }) => name);
    printValidFile(flags.config, agents, flags.output);
    return;
  }
  const logs = await openLogs(flags.log);
  const telemetry = await exportTelemetry(flags.otlp ?? settings.otlp, 'dragoman-gateway', logs.agent);
  const running = await startListening(settings.listen ?? {}, () =>
    runGateway(settings, {
      log: logs.agent,
      requestLog: logs.requests,
      onError: logs.fault,
      loadModule: loadAgent,
    }),
  );
  if (running.metrics) telemetry?.exportMetrics(running.metrics);
  stopOnSignals(
    async () => {
      await running.stop();
      await telemetry?.stop();
    },
    printError,
    settings.notReady + settings.drain,
  );
  if (!authenticatesClients(settings) && settings.listen) warnIfExposed(settings.listen.host);
  process.on('SIGHUP', () => void reload(running, flags, logs));
  // The gateway keeps running if the reader of standard output closes the pipe.
  process.stdout.on('error', () => {});
  const isJson = flags.output === 'json';
  const head = isJson ? process.stderr : process.stdout;
  if (running.url !== undefined) head.write(`listening on ${running.url}\n`);
  process.stdout.write(`${isJson ? formatJson(running) : formatText(running)}\n`);
}

/** @throws DocumentError if the file is invalid. */
function readConfig(flags: GatewayFlags & { config: string }): GatewaySettings {
  const { config, port, host, store } = flags;
  const text = readInputFile(config, 'Name a gateway file with -c FILE.');
  const read = readGatewayConfig(text, config, process.env);
  const stored = store === undefined ? read : { ...read, store: resolveStore(store) };
  const settings = { ...stored, tls: withTlsFlags(stored, flags) };
  const { listen } = settings;
  return listen
    ? { ...settings, listen: { host: host ?? listen.host, port: port ?? listen.port } }
    : settings;
}

/** Paths of flags are relative to the working directory, those of the file to the file. */
function withTlsFlags({ tls }: GatewaySettings, flags: GatewayFlags): GatewaySettings['tls'] {
  const { tlsCert, tlsKey, tlsClientCa } = flags;
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return tls;
  const certFile = tlsCert === undefined ? tls?.certFile : resolve(tlsCert);
  const keyFile = tlsKey === undefined ? tls?.keyFile : resolve(tlsKey);
  if (certFile === undefined || keyFile === undefined)
    throw new UsageError('TLS needs a certificate and its key', 'Use --tls-cert and --tls-key together.');
  const clientCaFile = tlsClientCa === undefined ? tls?.clientCaFile : resolve(tlsClientCa);
  return { clientCertificates: 'optional', ...tls, certFile, keyFile, clientCaFile };
}

/** Flags by the keys of the file that they replace. */
const tlsFlags = [
  ['tls.cert_file', '--tls-cert', 'tlsCert'],
  ['tls.key_file', '--tls-key', 'tlsKey'],
  ['tls.client_ca_file', '--tls-client-ca', 'tlsClientCa'],
  ['tls', '--tls-cert and --tls-key', 'tlsCert'],
  ['tls', '--tls-key', 'tlsKey'],
] as const;

/** @throws UsageError that names the flag, or the key of the file, whose file cannot be used. */
function checkTlsFiles(settings: GatewaySettings, flags: GatewayFlags & { config: string }): void {
  try {
    readTlsFiles(settings);
  } catch (thrown) {
    const { message } = A2AError.from(thrown);
    const used = tlsFlags.find(([key, , flag]) => message.startsWith(`${key} `) && flags[flag] !== undefined);
    throw used
      ? new UsageError(message.replace(used[0], used[1]), 'Name other files; nothing was started.')
      : new UsageError(message, `Correct tls in ${flags.config}; nothing was started.`);
  }
}

/** Reloads the configuration file. */
function reload(
  running: RunningGateway,
  flags: GatewayFlags & { config: string },
  { agent: log }: CliLogs,
): Promise<void> {
  return reloadFile(flags.config, log, async () => {
    const changes = await running.reload(readConfig(flags));
    for (const key of changes.needsRestart)
      log({ level: 'warn', message: `${key} changed in ${flags.config} and takes effect after a restart` });
    return formatChanges(changes);
  });
}

function listEndpoints(
  { name, exposeOnHttp, exposeOnMesh }: AgentSettings,
  url: string | undefined,
): string[] {
  return [
    ...(exposeOnHttp && url !== undefined ? [`${url}/agents/${name}`] : []),
    ...(exposeOnMesh ? [`${exposeOnMesh.url.replace(/\/\/[^@/]*@/, '//')} (${exposeOnMesh.namespace})`] : []),
  ];
}

function formatJson({ url, settings }: RunningGateway): string {
  const agents = settings.agents.map((each) => ({
    name: each.name,
    from: formatUpstream(each),
    at: listEndpoints(each, url),
  }));
  return JSON.stringify({ url, agents });
}

function formatText({ url, settings }: RunningGateway): string {
  const { bold, cyan, dim } = createColors(process.stdout);
  const lines = [''];
  for (const each of settings.agents) {
    lines.push(`  ${bold(each.name)} ${dim(`from ${formatUpstream(each)}`)}`);
    for (const endpoint of listEndpoints(each, url)) lines.push(`    ${cyan(endpoint)}`);
  }
  if (url !== undefined) lines.push('', `  ${dim('list  ')}  ${cyan(`${url}/agents`)}`);
  lines.push('', `  ${dim('Press Ctrl-C to stop; SIGHUP reloads the file.')}`, '');
  return lines.join('\n');
}
