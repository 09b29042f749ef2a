import { dirname, resolve } from 'node:path';
import type { Document } from '../../documents/document.ts';
import {
  type ReportDiagnostic,
  type EnvironmentVariables,
  readConfigDocument,
} from '../../documents/read-config.ts';
import {
  appsSchema,
  type BrokerConfig,
  type GatewayFile,
  gatewaySchema,
  type ProxyApp,
  proxyAppSchema,
} from './gateway-schema.ts';
import { tokenUrlProblem } from './credentials.ts';
import { agentNameProblem } from '../gateway.ts';
import type { UpstreamAuthentication, ProxiedAgent } from './proxied-agent-schema.ts';
import type {
  AgentSettings,
  AgentSourceSettings,
  GatewaySettings,
  MeshSettings,
} from '../gateway-settings.ts';

type Path = readonly PropertyKey[];

/**
 * Reads the file of a gateway: its own form, or the configuration of a proxy app of Solace Agent Mesh as it is.
 *
 * @param environment - what `${NAME}` and `${NAME, default}` stand for.
 * @throws DocumentError with the place of everything that is wrong.
 */
export function readGatewayConfig(
  text: string,
  file: string,
  environment: EnvironmentVariables,
): GatewaySettings {
  return readConfigDocument(
    text,
    file,
    environment,
    (document, filled, complain) => settingsOf(document, filled, complain, environment),
    // What other components of the same file need is not asked for here.
    ([first]) => first !== 'shared_config',
  );
}

function settingsOf(
  document: Document,
  filled: unknown,
  complain: ReportDiagnostic,
  environment: EnvironmentVariables,
): GatewaySettings {
  const has = (key: string) => typeof filled === 'object' && filled !== null && key in filled;
  const { file } = document;
  if (has('apps')) {
    const { apps } = document.check(appsSchema, filled);
    const agents = apps.flatMap((app, i) =>
      agentsOfApp(
        { broker: app.broker, ...app.app_config },
        { complain, environment, path: ['apps', i, 'app_config'] },
      ),
    );
    return proxyOnly(file, agents, apps[0]?.app_config.discovery_interval_seconds);
  }
  if (has('proxied_agents')) {
    const app = document.check(proxyAppSchema, filled);
    return proxyOnly(
      file,
      agentsOfApp(app, { complain, environment, path: [] }),
      app.discovery_interval_seconds,
    );
  }
  return toGatewaySettings(file, document.check(gatewaySchema, filled), complain, environment);
}

const milliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1000;

/** What a file of our own form says, with defaults filled in. */
export function toGatewaySettings(
  file: string,
  given: GatewayFile,
  complain: ReportDiagnostic,
  environment: EnvironmentVariables,
): GatewaySettings {
  const mesh = given.mesh && {
    url: given.mesh.url,
    namespace: given.mesh.namespace,
    username: given.mesh.username,
    password: given.mesh.password,
    queue: given.mesh.queue,
    isShared: given.mesh.shared ?? false,
    cardInterval: milliseconds(given.mesh.card_interval_seconds),
    artifacts: withKeys(given.artifacts, environment, complain, ['artifacts']),
  };
  const agents = Object.entries(given.agents).map(([name, entry]): AgentSettings => {
    const path = ['agents', name];
    checkName(name, path, complain);
    const source = sourceOf(name, entry, { file, mesh, path, complain });
    const wanted = entry.show ?? ['http', ...(mesh && source.kind !== 'mesh' ? ['mesh'] : [])];
    if (entry.show?.includes('mesh') && !mesh)
      complain([...path, 'show'], 'says mesh, but there is no `mesh`');
    const patience = entry.request_timeout_seconds ?? given.default_request_timeout_seconds ?? 300;
    return {
      name,
      displayName: entry.display_name,
      source,
      exposeOnHttp: wanted.includes('http'),
      exposeOnMesh: wanted.includes('mesh') ? mesh : undefined,
      convertProgress: entry.convert_progress_updates ?? true,
      idleTimeout: patience * 1000,
      totalTimeout: milliseconds(entry.total_timeout_seconds),
    };
  });
  if (agents.length === 0) complain(['agents'], 'must name at least one agent');
  return {
    ...defaults,
    file,
    listen: agents.some(({ exposeOnHttp: onHttp }) => onHttp) ? listenOf(given.listen, complain) : undefined,
    publicUrl: given.public_url,
    trustForwarded: given.trust_forwarded ?? false,
    agents,
    auth: given.auth,
    limits: given.limits ?? {},
    sign: given.sign,
    metrics: given.metrics ?? true,
    healthInterval: Math.max(0, milliseconds(given.health_interval_seconds) ?? defaults.healthInterval),
    breaker: {
      failures: given.breaker?.failures ?? defaults.breaker.failures,
      openFor: milliseconds(given.breaker?.open_seconds) ?? defaults.breaker.openFor,
    },
    drain: milliseconds(given.drain_seconds) ?? defaults.drain,
  };
}

const defaults = {
  healthInterval: 60_000,
  breaker: { failures: 5, openFor: 10_000 },
  drain: 5000,
} as const;

type Entry = GatewayFile['agents'][string];

function sourceOf(
  name: string,
  entry: Entry,
  around: { file: string; mesh: MeshSettings | undefined; path: Path; complain: ReportDiagnostic },
): AgentSourceSettings {
  const { file, mesh, path, complain } = around;
  if ('module' in entry) return { kind: 'module', file: resolve(dirname(file), entry.module) };
  if ('mesh' in entry) {
    if (!mesh) complain([...path, 'mesh'], 'needs `mesh` with the url of a broker');
    return { kind: 'mesh', name: entry.mesh, mesh: mesh as MeshSettings };
  }
  const { show: _where, ...upstream } = entry;
  const config = { name, ...upstream };
  checkUpstream(config, path, complain);
  return { kind: 'url', config };
}

function checkName(name: string, path: Path, complain: ReportDiagnostic): void {
  const complaint = agentNameProblem(name);
  if (complaint !== undefined) complain(path, `the name ${complaint}`);
}

function checkUpstream(config: ProxiedAgent, path: Path, complain: ReportDiagnostic): void {
  for (const key of ['authentication', 'agent_card_authentication', 'task_authentication'] as const) {
    const given: UpstreamAuthentication | undefined = config[key];
    if (!given || !('type' in given) || given.type !== 'oauth2_client_credentials') continue;
    const complaint = tokenUrlProblem(given.token_url, given.allow_loopback_token_url === true);
    if (complaint !== undefined) complain([...path, key, 'token_url'], complaint);
  }
  if ((config.ssl_cert === undefined) !== (config.ssl_key === undefined))
    complain([...path, config.ssl_cert === undefined ? 'ssl_key' : 'ssl_cert'], 'needs ssl_cert and ssl_key');
}

function listenOf(given: GatewayFile['listen'], complain: ReportDiagnostic): { host: string; port: number } {
  const usual = { host: '127.0.0.1', port: 4000 };
  if (given === undefined) return usual;
  if (typeof given === 'number') return { ...usual, port: given };
  if (typeof given === 'object') return { host: given.host ?? usual.host, port: given.port ?? usual.port };
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(given) ?? [];
  if (host === '' || Number(port) > 65_535) {
    complain(['listen'], 'must be a port or "host:port", as in 0.0.0.0:4000');
    return usual;
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

/** The agents of a proxy app, which are shown on its mesh alone. */
function agentsOfApp(
  app: ProxyApp,
  {
    complain,
    environment,
    path,
  }: { complain: ReportDiagnostic; environment: EnvironmentVariables; path: Path },
): AgentSettings[] {
  const { broker } = app;
  const mesh: MeshSettings = {
    url: brokerUrl(broker, complain, path),
    namespace: app.namespace,
    username: usernameOf(broker),
    password: broker?.broker_password,
    queue: undefined,
    isShared: false,
    cardInterval: undefined,
    artifacts: withKeys(app.artifact_service, environment, complain, [...path, 'artifact_service']),
  };
  const seen = new Set<string>();
  return app.proxied_agents.map((config, i) => {
    const at = [...path, 'proxied_agents', i];
    if (seen.has(config.name)) complain([...at, 'name'], 'is the name of another agent too');
    seen.add(config.name);
    checkUpstream(config, at, complain);
    const patience = config.request_timeout_seconds ?? app.default_request_timeout_seconds ?? 300;
    return {
      name: config.name,
      displayName: config.display_name,
      source: { kind: 'url', config },
      exposeOnHttp: false,
      exposeOnMesh: mesh,
      convertProgress: config.convert_progress_updates ?? true,
      idleTimeout: patience * 1000,
      totalTimeout: milliseconds(config.total_timeout_seconds),
    };
  });
}

function proxyOnly(file: string, agents: AgentSettings[], discovery: number | undefined): GatewaySettings {
  return {
    ...defaults,
    file,
    listen: undefined,
    publicUrl: undefined,
    trustForwarded: false,
    agents,
    auth: undefined,
    limits: {},
    sign: undefined,
    metrics: true,
    healthInterval: Math.max(0, milliseconds(discovery) ?? defaults.healthInterval),
  };
}

/** The keys of S3 come from the environment where the file has none, by the names that everybody uses. */
function withKeys(
  given: MeshSettings['artifacts'],
  environment: EnvironmentVariables,
  complain: ReportDiagnostic,
  path: Path,
): MeshSettings['artifacts'] {
  if (given?.type !== 's3') return given;
  const id = given.access_key_id ?? environment.AWS_ACCESS_KEY_ID;
  const secret = given.secret_access_key ?? environment.AWS_SECRET_ACCESS_KEY;
  if (id === undefined || secret === undefined)
    complain(
      path,
      'has no keys: set access_key_id and secret_access_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  return {
    ...given,
    access_key_id: id,
    secret_access_key: secret,
    region: given.region ?? environment.AWS_REGION,
    endpoint_url: given.endpoint_url ?? environment.AWS_ENDPOINT_URL,
  };
}

/** Brokers of Solace take the user and the network in one name over MQTT where the network is not the usual one. */
function usernameOf(broker: BrokerConfig | undefined): string | undefined {
  const { broker_username: user, broker_vpn: vpn = 'default' } = broker ?? {};
  return user === undefined || vpn === '' || vpn === 'default' ? user : `${user}@${vpn}`;
}

/** MQTT is what a broker of Solace and this gateway have in common. */
function brokerUrl(broker: BrokerConfig | undefined, complain: ReportDiagnostic, path: Path): string {
  if (!broker || broker.dev_mode === true) return 'memory:';
  const url = broker.mqtt_url ?? broker.broker_url ?? '';
  if (/^(mqtts?|nats|tls|memory):/.test(url)) return url;
  const shown = url === '' ? 'nothing' : new URL(url, 'none:').protocol;
  complain(
    [...path.slice(0, -1), 'broker'],
    `names ${shown}, which only the libraries of Solace speak: add mqtt_url, as in mqtt://host:1883`,
  );
  return 'memory:';
}
