import { dirname, resolve } from 'node:path';
import type { Document } from '../../documents/document.ts';
import type { DocumentPath } from '../../documents/schema-issues.ts';
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
import { readPolicy } from '../policy/read-policy.ts';
import { IpRange } from '../../primitives/ip-range.ts';
import { tokenUrlProblem } from './credentials.ts';
import { agentNameProblem } from '../gateway.ts';
import type { UpstreamAuthentication, ProxiedAgent } from './proxied-agent-schema.ts';
import type {
  AgentSettings,
  AgentSourceSettings,
  GatewaySettings,
  MeshSettings,
} from '../gateway-settings.ts';

/**
 * Reads the configuration file of a gateway: its own format, or that of a Solace Agent Mesh proxy app.
 *
 * @param environment - values of `${NAME}` and `${NAME, default}`.
 * @throws DocumentError with all diagnostics.
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
    (document, content, report) => toSettings(document, content, report, environment),
    // Variables that only other components of the file use need not be set.
    ([first]) => first !== 'shared_config',
  );
}

function toSettings(
  document: Document,
  content: unknown,
  report: ReportDiagnostic,
  environment: EnvironmentVariables,
): GatewaySettings {
  const has = (key: string) => typeof content === 'object' && content !== null && key in content;
  const { file } = document;
  if (has('apps')) {
    const { apps } = document.check(appsSchema, content);
    const agents = apps.flatMap((app, i) =>
      readProxyApp(
        { broker: app.broker, ...app.app_config },
        { report, environment, path: ['apps', i, 'app_config'] },
      ),
    );
    return proxyAppSettings(file, agents, apps[0]?.app_config.discovery_interval_seconds);
  }
  if (has('proxied_agents')) {
    const app = document.check(proxyAppSchema, content);
    return proxyAppSettings(
      file,
      readProxyApp(app, { report, environment, path: [] }),
      app.discovery_interval_seconds,
    );
  }
  return toGatewaySettings(document, document.check(gatewaySchema, content), report, environment);
}

const milliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1000;

/** Converts a file in the gateway's own format to settings and applies defaults. */
export function toGatewaySettings(
  document: Pick<Document, 'file' | 'locate'>,
  config: GatewayFile,
  report: ReportDiagnostic,
  environment: EnvironmentVariables,
): GatewaySettings {
  const { file } = document;
  const mesh = config.mesh && toMeshSettings(config.mesh, config.artifacts, environment, report);
  const agents = Object.entries(config.agents).map(([name, entry]): AgentSettings => {
    const path = ['agents', name];
    const problem = agentNameProblem(name);
    if (problem !== undefined) report(path, `name ${problem}`);
    const source = toSource(name, entry, { file, mesh, path, report });
    const exposed = entry.expose ?? ['http', ...(mesh && source.kind !== 'mesh' ? ['mesh'] : [])];
    if (entry.expose?.includes('mesh') && !mesh)
      report([...path, 'expose'], 'must not contain mesh unless `mesh` is set');
    return {
      name,
      source,
      exposeOnHttp: exposed.includes('http'),
      exposeOnMesh: exposed.includes('mesh') ? mesh : undefined,
      ...toAgentSettings(entry, config.default_request_timeout_seconds),
    };
  });
  if (agents.length === 0) report(['agents'], 'must name at least one agent');
  for (const [i, each] of (config.trust_proxy ?? []).entries())
    if (!IpRange.parse(each)) report(['trust_proxy', i], 'must be an IP address or a CIDR block');
  return {
    ...defaults,
    file,
    listen: agents.some(({ exposeOnHttp }) => exposeOnHttp) ? parseListen(config.listen, report) : undefined,
    tls: config.tls && {
      certFile: config.tls.cert_file,
      keyFile: config.tls.key_file,
      clientCaFile: config.tls.client_ca_file,
      clientCertificates: config.tls.client_certificates ?? 'optional',
    },
    publicUrl: config.public_url,
    trustForwarded: config.trust_forwarded ?? false,
    trustProxy: config.trust_proxy,
    allowedHosts: config.allowed_hosts,
    cors: config.cors,
    fastPath: config.fast_path,
    grpc: config.grpc,
    agents,
    auth: config.auth,
    policy:
      config.policy &&
      readPolicy(config.policy, {
        agents: agents.map(({ name }) => name),
        report,
        lineOf: (path) => document.locate(path).line,
      }),
    store: config.store ?? defaults.store,
    limits: config.limits ?? {},
    sign: config.sign,
    metrics: config.metrics ?? true,
    ...(config.otlp !== undefined && { otlp: config.otlp }),
    healthInterval: Math.max(0, milliseconds(config.health_interval_seconds) ?? defaults.healthInterval),
    breaker: {
      failures: config.breaker?.failures ?? defaults.breaker.failures,
      openFor: milliseconds(config.breaker?.open_seconds) ?? defaults.breaker.openFor,
    },
    notReady: Math.max(0, milliseconds(config.not_ready_seconds) ?? defaults.notReady),
    drain: milliseconds(config.drain_seconds) ?? defaults.drain,
  };
}

function toMeshSettings(
  { shared, client_id, reply_topics, card_interval_seconds, ...mesh }: NonNullable<GatewayFile['mesh']>,
  artifacts: GatewayFile['artifacts'],
  environment: EnvironmentVariables,
  report: ReportDiagnostic,
): MeshSettings {
  if (shared && mesh.queue === undefined)
    report(['mesh', 'shared'], 'requires `queue`, the name of the queue');
  return {
    ...mesh,
    isShared: shared ?? false,
    clientId: client_id,
    replyTopics: reply_topics,
    cardInterval: milliseconds(card_interval_seconds),
    artifacts: withS3Environment(artifacts, environment, report, ['artifacts']),
  };
}

/** Converts the fields that all formats share. */
function toAgentSettings(
  config: Omit<Entry, 'expose'> | ProxiedAgent,
  defaultTimeout = 300,
): Pick<AgentSettings, 'displayName' | 'convertProgress' | 'idleTimeout' | 'totalTimeout'> {
  return {
    displayName: config.display_name,
    convertProgress: config.convert_progress_updates ?? true,
    idleTimeout: (config.request_timeout_seconds ?? defaultTimeout) * 1000,
    totalTimeout: milliseconds(config.total_timeout_seconds),
  };
}

const defaults = {
  healthInterval: 60_000,
  breaker: { failures: 5, openFor: 10_000 },
  notReady: 0,
  drain: 5000,
  store: 'memory',
} as const;

type Entry = GatewayFile['agents'][string];

function toSource(
  name: string,
  entry: Entry,
  context: { file: string; mesh: MeshSettings | undefined; path: DocumentPath; report: ReportDiagnostic },
): AgentSourceSettings {
  const { file, mesh, path, report } = context;
  if ('module' in entry) return { kind: 'module', file: resolve(dirname(file), entry.module) };
  if ('mesh' in entry) {
    if (!mesh) report([...path, 'mesh'], 'requires the top-level `mesh` with the URL of a broker');
    return { kind: 'mesh', name: entry.mesh, mesh: mesh as MeshSettings };
  }
  const { expose: _expose, ...upstream } = entry;
  const config = { name, ...upstream };
  checkUpstream(config, path, report);
  return { kind: 'url', config };
}

function checkUpstream(config: ProxiedAgent, path: DocumentPath, report: ReportDiagnostic): void {
  for (const key of ['authentication', 'agent_card_authentication', 'task_authentication'] as const) {
    const auth: UpstreamAuthentication | undefined = config[key];
    if (!auth || !('type' in auth) || !('token_url' in auth)) continue;
    const problem = tokenUrlProblem(auth.token_url, auth.allow_loopback_token_url === true);
    if (problem !== undefined) report([...path, key, 'token_url'], problem);
  }
  if ((config.ssl_cert === undefined) !== (config.ssl_key === undefined))
    report(
      [...path, config.ssl_cert === undefined ? 'ssl_key' : 'ssl_cert'],
      'requires both ssl_cert and ssl_key',
    );
}

function parseListen(
  config: GatewayFile['listen'],
  report: ReportDiagnostic,
): { host: string; port: number } {
  const defaultListen = { host: '127.0.0.1', port: 4000 };
  if (config === undefined) return defaultListen;
  if (typeof config === 'number') return { ...defaultListen, port: config };
  if (typeof config === 'object')
    return { host: config.host ?? defaultListen.host, port: config.port ?? defaultListen.port };
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(config) ?? [];
  if (host === '' || Number(port) > 65_535) {
    report(['listen'], 'must be a port or "host:port", as in 0.0.0.0:4000');
    return defaultListen;
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

/** Returns the agents of a proxy app, which are exposed only on its mesh. */
function readProxyApp(
  app: ProxyApp,
  context: { report: ReportDiagnostic; environment: EnvironmentVariables; path: DocumentPath },
): AgentSettings[] {
  const { report, environment, path } = context;
  const { broker } = app;
  const mesh: MeshSettings = {
    url: brokerUrl(broker, report, path),
    namespace: app.namespace,
    username: mqttUsername(broker),
    password: broker?.broker_password,
    isShared: false,
    artifacts: withS3Environment(app.artifact_service, environment, report, [...path, 'artifact_service']),
  };
  const seen = new Set<string>();
  return app.proxied_agents.map((config, i) => {
    const at = [...path, 'proxied_agents', i];
    if (seen.has(config.name)) report([...at, 'name'], 'must be unique');
    seen.add(config.name);
    checkUpstream(config, at, report);
    return {
      name: config.name,
      source: { kind: 'url', config },
      exposeOnHttp: false,
      exposeOnMesh: mesh,
      ...toAgentSettings(config, app.default_request_timeout_seconds),
    };
  });
}

function proxyAppSettings(
  file: string,
  agents: AgentSettings[],
  discovery: number | undefined,
): GatewaySettings {
  const healthInterval = Math.max(0, milliseconds(discovery) ?? defaults.healthInterval);
  return { ...defaults, file, agents, limits: {}, trustForwarded: false, metrics: true, healthInterval };
}

/** Reads missing S3 settings from the standard AWS environment variables. */
function withS3Environment(
  config: MeshSettings['artifacts'],
  environment: EnvironmentVariables,
  report: ReportDiagnostic,
  path: DocumentPath,
): MeshSettings['artifacts'] {
  if (config?.type !== 's3') return config;
  const id = config.access_key_id ?? environment.AWS_ACCESS_KEY_ID;
  const secret = config.secret_access_key ?? environment.AWS_SECRET_ACCESS_KEY;
  if (id === undefined || secret === undefined)
    report(
      path,
      'requires access_key_id and secret_access_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  return {
    ...config,
    access_key_id: id,
    secret_access_key: secret,
    region: config.region ?? environment.AWS_REGION,
    endpoint_url: config.endpoint_url ?? environment.AWS_ENDPOINT_URL,
  };
}

/** Solace brokers expect `user@vpn` as MQTT username, except for the default message VPN. */
function mqttUsername(broker: BrokerConfig | undefined): string | undefined {
  const { broker_username: user, broker_vpn: vpn = 'default' } = broker ?? {};
  return user === undefined || vpn === '' || vpn === 'default' ? user : `${user}@${vpn}`;
}

/** Solace brokers also accept MQTT; the gateway does not support the Solace protocol (SMF). */
function brokerUrl(broker: BrokerConfig | undefined, report: ReportDiagnostic, path: DocumentPath): string {
  if (!broker || broker.dev_mode === true) return 'memory:';
  const url = broker.mqtt_url ?? broker.broker_url ?? '';
  if (/^(mqtts?|nats|tls|memory):/.test(url)) return url;
  const protocol = url === '' ? 'no URL' : new URL(url, 'none:').protocol;
  report(
    [...path.slice(0, -1), 'broker'],
    `names ${protocol}, which is not supported: add mqtt_url, as in mqtt://host:1883`,
  );
  return 'memory:';
}
