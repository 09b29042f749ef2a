import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Document } from '../documents/document.ts';
import {
  type ReportDiagnostic,
  type EnvironmentVariables,
  readConfigDocument,
} from '../documents/read-config.ts';
import { toGatewaySettings } from '../gateway/config/read-gateway-config.ts';
import type { GatewayFile } from '../gateway/config/gateway-schema.ts';
import { type UpFile, upSchema } from './up-config-schema.ts';
import type { HostedSettings, PortSetting, UpSettings } from './up-settings.ts';

const defaultPorts = { gateway: 4000, mcp: 4100, console: 4200 } as const;

/** Milliseconds; shorter than the default of the gateway, because a user waits after Ctrl-C. */
const defaultDrain = 500;

/**
 * Reads the configuration file of `dragoman up`.
 *
 * @param environment - values of `${NAME}` and `${NAME, default}`.
 * @throws DocumentError with all diagnostics.
 */
export function readUpConfig(text: string, file: string, environment: EnvironmentVariables): UpSettings {
  return readConfigDocument(text, file, environment, (document, content, report) =>
    toSettings(document, document.check(upSchema, content), report, environment),
  );
}

/** Marks the settings as the sample. Every port may move, because the user did not choose it. */
export function withMovablePorts(settings: UpSettings): UpSettings {
  const movable = (setting: PortSetting | undefined) => setting && { ...setting, mayMove: true };
  const { gatewayPort, mcp, console } = settings;
  return {
    ...settings,
    isSample: true,
    gatewayPort: { ...gatewayPort, mayMove: true },
    mcp: movable(mcp),
    console: movable(console),
  };
}

function toSettings(
  document: Document,
  config: UpFile,
  report: ReportDiagnostic,
  environment: EnvironmentVariables,
): UpSettings {
  const { file } = document;
  const { bridge, console, agents, ...rest } = config;
  const hosted = Object.entries(agents).flatMap(([name, entry]) => readHosted(file, name, entry));
  for (const { name, kind, file: path } of hosted)
    if (!existsSync(path)) report(['agents', name, kind], `file not found: ${path}`);
  const gateway = toGatewaySettings(
    document,
    { ...rest, agents: toGatewayAgents(agents) },
    report,
    environment,
  );
  if (bridge && !gateway.agents.some(({ exposeOnHttp }) => exposeOnHttp))
    report(['bridge'], 'requires an agent that is exposed over http');
  if (bridge && config.auth && !config.auth.optional)
    report(
      ['bridge'],
      'has no credentials for the gateway: set auth.optional, or run dragoman bridge separately',
    );
  return {
    file,
    isSample: false,
    gateway: { ...gateway, drain: config.drain_seconds === undefined ? defaultDrain : gateway.drain },
    gatewayPort: {
      port: gateway.listen?.port ?? defaultPorts.gateway,
      mayMove: config.listen === undefined,
    },
    hosted,
    mcp: bridge && toPortSetting(bridge.mcp.port, defaultPorts.mcp),
    console: console === false ? undefined : toPortSetting(console?.port, defaultPorts.console),
  };
}

const toPortSetting = (port: number | undefined, defaultPort: number): PortSetting => ({
  port: port ?? defaultPort,
  mayMove: port === undefined,
});

type Entry = UpFile['agents'][string];

type HostedEntry = Extract<Entry, { module: string } | { script: string }>;

function isHosted(entry: Entry): entry is HostedEntry {
  return 'module' in entry || 'script' in entry;
}

function readHosted(file: string, name: string, entry: Entry): HostedSettings[] {
  if (!isHosted(entry)) return [];
  const { port = 0, only_version: onlyVersion } = entry;
  const [kind, path] =
    'module' in entry ? (['module', entry.module] as const) : (['script', entry.script] as const);
  return [{ name, kind, file: resolve(dirname(file), path), port, onlyVersion }];
}

/** Converts entries to the gateway format. Hosted agents are modules until they are started and have a URL. */
function toGatewayAgents(agents: UpFile['agents']): GatewayFile['agents'] {
  return Object.fromEntries(
    Object.entries(agents).map(([name, entry]) => {
      if (!isHosted(entry)) return [name, entry];
      const { port: _port, only_version: _onlyVersion, ...more } = entry;
      if ('module' in more) return [name, more];
      const { script, ...fields } = more;
      return [name, { module: script, ...fields }];
    }),
  );
}
