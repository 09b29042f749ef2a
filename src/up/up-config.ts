import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type ReportDiagnostic,
  type EnvironmentVariables,
  readConfigDocument,
} from '../documents/read-config.ts';
import { toGatewaySettings } from '../gateway/config/read-gateway-config.ts';
import type { GatewayFile } from '../gateway/config/gateway-schema.ts';
import { type UpFile, upSchema } from './up-config-schema.ts';
import type { HostedSettings, PortSetting, UpSettings } from './up-settings.ts';

/** Where things are when nobody says otherwise. */
const usualPorts = { gateway: 4000, mcp: 4100, console: 4200 } as const;

/** How long running requests may take to end, in milliseconds: whoever presses Ctrl-C waits for it. */
const usualDrain = 500;

/**
 * Reads the file of `dragoman up`.
 *
 * @param environment - what `${NAME}` and `${NAME, default}` stand for.
 * @throws DocumentError with the place of everything that is wrong.
 */
export function readUpConfig(text: string, file: string, environment: EnvironmentVariables): UpSettings {
  return readConfigDocument(text, file, environment, (document, filled, complain) =>
    settingsOf(file, document.check(upSchema, filled), complain, environment),
  );
}

/** The same as the sample that it is: every port may be another, for nobody wrote them himself. */
export function withMovablePorts(settings: UpSettings): UpSettings {
  const free = (wish: PortSetting | undefined) => wish && { ...wish, mayMove: true };
  const { gatewayPort, mcp, console } = settings;
  return {
    ...settings,
    isSample: true,
    gatewayPort: { ...gatewayPort, mayMove: true },
    mcp: free(mcp),
    console: free(console),
  };
}

function settingsOf(
  file: string,
  given: UpFile,
  complain: ReportDiagnostic,
  environment: EnvironmentVariables,
): UpSettings {
  const { bridge, console, agents, ...rest } = given;
  const hosted = Object.entries(agents).flatMap(([name, entry]) => hostedOf(file, name, entry));
  for (const { name, kind, file: wanted } of hosted)
    if (!existsSync(wanted)) complain(['agents', name, kind], `there is no file ${wanted}`);
  const gateway = toGatewaySettings(file, { ...rest, agents: withoutPlaces(agents) }, complain, environment);
  if (bridge && !gateway.agents.some(({ exposeOnHttp: onHttp }) => onHttp))
    complain(['bridge'], 'has no agent to show: none is shown over http');
  if (bridge && given.auth && !given.auth.optional)
    complain(
      ['bridge'],
      'has no credentials for the gateway: set auth.optional, or run dragoman bridge beside it',
    );
  return {
    file,
    isSample: false,
    gateway: { ...gateway, drain: given.drain_seconds === undefined ? usualDrain : gateway.drain },
    gatewayPort: {
      port: gateway.listen?.port ?? usualPorts.gateway,
      mayMove: given.listen === undefined,
    },
    hosted,
    mcp: bridge && wish(bridge.mcp.port, usualPorts.mcp),
    console: console === false ? undefined : wish(console?.port, usualPorts.console),
  };
}

const wish = (port: number | undefined, usual: number): PortSetting => ({
  port: port ?? usual,
  mayMove: port === undefined,
});

type Entry = UpFile['agents'][string];

type Hosted = Extract<Entry, { module: string } | { script: string }>;

function isHosted(entry: Entry): entry is Hosted {
  return 'module' in entry || 'script' in entry;
}

function hostedOf(file: string, name: string, entry: Entry): HostedSettings[] {
  if (!isHosted(entry)) return [];
  const { port = 0, speaks } = entry;
  const [kind, path] =
    'module' in entry ? (['module', entry.module] as const) : (['script', entry.script] as const);
  return [{ name, kind, file: resolve(dirname(file), path), port, speaks }];
}

/** The agents as the file of a gateway has them: those that run here are modules until they have an address. */
function withoutPlaces(agents: UpFile['agents']): GatewayFile['agents'] {
  return Object.fromEntries(
    Object.entries(agents).map(([name, entry]) => {
      if (!isHosted(entry)) return [name, entry];
      const { port: _port, speaks: _speaks, ...more } = entry;
      if ('module' in more) return [name, more];
      const { script, ...shown } = more;
      return [name, { module: script, ...shown }];
    }),
  );
}
