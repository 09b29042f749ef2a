import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../documents/diagnostic.ts';
import { Document } from '../../documents/document.ts';
import { readGatewayConfig } from './read-gateway-config.ts';
import { gatewayJsonSchema } from './gateway-schema.ts';

const read = (text: string, environment: Record<string, string> = {}) =>
  readGatewayConfig(text, 'dragoman.yaml', environment);

function diagnostics(text: string, environment: Record<string, string> = {}): string[] {
  try {
    read(text, environment);
    return [];
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DocumentError);
    return (thrown as Error).message.split('\n');
  }
}

const small = `
agents:
  weather:
    url: https://weather.example/a2a/
`;

const large = `
listen: 0.0.0.0:8080
public_url: https://agents.example
mesh:
  url: mqtt://broker.example
  namespace: acme/prod
  username: me
agents:
  weather:
    url: \${WEATHER_URL, "https://weather.example"}
    authentication: { type: static_bearer, token: "\${TOKEN}" }
    request_timeout_seconds: \${TIMEOUT, 7}
    ssl_verify: \${VERIFY, true}
    expose: [http]
  planner:
    mesh: PlannerAgent
  echo:
    module: ./echo.js
    display_name: Echo
artifacts: { type: filesystem, base_path: /var/artifacts }
limits: { requests_per_second: 5 }
auth:
  bearer: [{ token: t, principal: alice }]
metrics: false
breaker: { failures: 2 }
`;

const app = `
namespace: \${NAMESPACE, acme}
proxied_agents:
  - name: Weather
    url: https://weather.example/
    agent_card_headers:
      - { name: X-A, value: b }
    authentication: { scheme: apikey, token: k }
    convert_progress_updates: false
artifact_service: { type: memory, artifact_scope: namespace }
discovery_interval_seconds: 5
default_request_timeout_seconds: 9
artifact_handling_mode: reference
broker: { broker_url: mqtt://b.example, broker_username: u, broker_password: p, broker_vpn: v }
`;

const apps = `
log: { stdout_log_level: INFO }
shared_config:
  - broker_connection: &broker_connection
      dev_mode: \${SOLACE_DEV_MODE, false}
      broker_url: \${SOLACE_BROKER_URL, mqtt://localhost:1883}
      broker_password: \${SOMETHING_ELSE_OF_OTHERS}
  - services:
      artifact_service: &default_artifact_service
        type: filesystem
        base_path: /tmp/samv2
apps:
  - name: proxy
    app_base_path: .
    app_module: solace_agent_mesh.agent.proxies.a2a.app
    broker:
      <<: *broker_connection
      broker_password: secret
    app_config:
      namespace: acme/
      artifact_service: *default_artifact_service
      proxied_agents:
        - name: One
          url: http://localhost:1
        - name: Two
          url: http://localhost:2
`;

describe('readGatewayConfig', () => {
  it('applies defaults to a minimal file', () => {
    expect(read(small)).toMatchObject({
      listen: { host: '127.0.0.1', port: 4000 },
      agents: [
        {
          name: 'weather',
          source: { kind: 'url', config: { name: 'weather', url: 'https://weather.example/a2a/' } },
          exposeOnHttp: true,
          exposeOnMesh: undefined,
          idleTimeout: 300_000,
        },
      ],
      metrics: true,
      healthInterval: 60_000,
      breaker: { failures: 5 },
    });
  });

  it('reads all settings and interpolates environment variables', () => {
    const settings = read(large, { TOKEN: 'sesame', TIMEOUT: '8', VERIFY: 'false' });
    expect(settings).toMatchObject({
      listen: { host: '0.0.0.0', port: 8080 },
      publicUrl: 'https://agents.example',
      metrics: false,
      breaker: { failures: 2, openFor: 10_000 },
      limits: { requests_per_second: 5 },
      agents: [
        {
          source: { kind: 'url', config: { url: 'https://weather.example', ssl_verify: false } },
          idleTimeout: 8000,
          exposeOnHttp: true,
          exposeOnMesh: undefined,
        },
        {
          source: { kind: 'mesh', name: 'PlannerAgent', mesh: { namespace: 'acme/prod', username: 'me' } },
          exposeOnHttp: true,
          exposeOnMesh: undefined,
        },
        {
          source: { kind: 'module', file: expect.stringMatching(/echo\.js$/) },
          displayName: 'Echo',
          exposeOnHttp: true,
          exposeOnMesh: { url: 'mqtt://broker.example', artifacts: { type: 'filesystem' } },
        },
      ],
    });
  });

  it('accepts the configuration of a Solace Agent Mesh proxy app', () => {
    const settings = read(app);
    expect(settings.listen).toBeUndefined();
    expect(settings).toMatchObject({
      healthInterval: 5000,
      agents: [
        {
          name: 'Weather',
          idleTimeout: 9000,
          convertProgress: false,
          exposeOnHttp: false,
          exposeOnMesh: {
            url: 'mqtt://b.example',
            namespace: 'acme',
            username: 'u@v',
            password: 'p',
            artifacts: { type: 'memory' },
          },
        },
      ],
    });
  });

  it('accepts a file of apps with YAML anchors and merge keys', () => {
    const { agents } = read(apps);
    expect(agents.map(({ name, exposeOnMesh }) => [name, exposeOnMesh?.url, exposeOnMesh?.password])).toEqual(
      [
        ['One', 'mqtt://localhost:1883', 'secret'],
        ['Two', 'mqtt://localhost:1883', 'secret'],
      ],
    );
    expect(agents[0]?.exposeOnMesh?.artifacts).toEqual({ type: 'filesystem', base_path: '/tmp/samv2' });
    expect(read(apps, { SOLACE_DEV_MODE: 'true' }).agents[0]?.exposeOnMesh?.url).toBe('memory:');
  });

  it.each([
    [
      'an unknown key',
      'agents:\n  a: { url: http://a.example, tiemout: 3 }\n',
      '2:31: agents.a.tiemout: unknown key',
    ],
    ['no agent', 'agents: {}\n', '1:1: agents: must name at least one agent'],
    ['an invalid URL', 'agents:\n  a: { url: weather }\n', '2:8: agents.a.url: must be an http or https URL'],
    [
      'an invalid agent name',
      'agents:\n  "a b": { url: http://a.example }\n',
      '2:3: agents.a b: name must consist of letters, digits, ".", "_", "~" and "-", because it is part of a URL',
    ],
    [
      'an environment variable that is not set',
      'agents:\n  a:\n    url: ${NOWHERE}\n    tenant: t\n',
      '3:5: agents.a.url: environment variable NOWHERE is not set and has no default',
    ],
    [
      'an unknown type of credentials',
      'agents:\n  a:\n    url: http://a.example\n    authentication: { type: oauth2_authorization_code }\n',
      '4:23: agents.a.authentication.type: must be static_bearer, static_apikey, oauth2_client_credentials, forward_token or token_exchange',
    ],
    [
      'a plaintext token URL',
      'agents:\n  a:\n    url: http://a.example\n    authentication:\n      type: oauth2_client_credentials\n      token_url: http://t.example/token\n      client_id: a\n      client_secret: b\n',
      '6:7: agents.a.authentication.token_url: must be https, because it receives the client secret',
    ],
    [
      'a mesh agent without mesh settings',
      'agents:\n  a: { mesh: Planner }\n',
      '2:8: agents.a.mesh: requires the top-level `mesh` with the URL of a broker',
    ],
    [
      'a shared mesh queue without its name',
      'mesh: { url: "memory:", namespace: a, shared: true }\nagents:\n  a: { url: http://a.example }\n',
      '1:39: mesh.shared: requires `queue`, the name of the queue',
    ],
    [
      'exposure on a mesh without mesh settings',
      'agents:\n  a: { url: http://a.example, expose: [mesh] }\n',
      '2:31: agents.a.expose: must not contain mesh unless `mesh` is set',
    ],
    [
      'an invalid listen address',
      'listen: here\nagents:\n  a: { url: http://a.example }\n',
      '1:1: listen: must be a port or "host:port", as in 0.0.0.0:4000',
    ],
    [
      'a filesystem store without base_path',
      'agents:\n  a: { url: http://a.example }\nartifacts: { type: filesystem }\n',
      '3:12: artifacts.base_path: is required for type filesystem',
    ],
    [
      'a broker URL of the Solace protocol',
      'namespace: a\nproxied_agents: [{ name: x, url: http://a.example }]\nbroker: { broker_url: "tcps://b.example:55443" }\n',
      '3:1: broker: names tcps:, which is not supported: add mqtt_url, as in mqtt://host:1883',
    ],
    [
      'a duplicate agent name',
      'namespace: a\nproxied_agents:\n  - { name: x, url: http://a.example }\n  - { name: x, url: http://b.example }\n',
      '4:7: proxied_agents[1].name: must be unique',
    ],
  ])('reports %s with line and column', (_what, text, diagnostic) => {
    expect(diagnostics(text)).toContain(`dragoman.yaml:${diagnostic}`);
  });

  it('reports all errors beside an environment variable that is not set, and that one once', () => {
    const text = 'agents:\n  a:\n    url: ${NOWHERE}\n    tiemout: 3\n  b: { url: weather }\n';
    expect(diagnostics(text)).toEqual([
      'dragoman.yaml:3:5: agents.a.url: environment variable NOWHERE is not set and has no default',
      'dragoman.yaml:4:5: agents.a.tiemout: unknown key',
      'dragoman.yaml:5:8: agents.b.url: must be an http or https URL',
    ]);
  });

  it('accepts the same files as the JSON Schema', () => {
    const schema = gatewayJsonSchema();
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    for (const text of [
      small,
      large.replaceAll(/\$\{TIMEOUT, 7\}/g, '7').replaceAll(/\$\{VERIFY, true\}/g, 'true'),
    ])
      expect(validate(Document.parse(text, 'a.yaml').value), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ agents: { a: { url: 'http://a.example', tiemout: 3 } } })).toBe(false);
    expect(validate({ agents: { a: {} } })).toBe(false);
  });
});
