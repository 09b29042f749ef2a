import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { codeBlocksOf } from '../../test/support/docs/code-blocks.ts';
import { Document } from '../documents/document.ts';
import { bridgeConfigFromEnvironment, bridgeJsonSchema, readBridgeConfig } from './bridge-config.ts';

const defaults = {
  command: undefined,
  workingDir: undefined,
  envFile: undefined,
  startupTimeout: 30_000,
  restartOnCrash: true,
  bearerToken: undefined,
  bearerAlways: false,
  inputRequiredTtl: 300,
};

const diagnosticsOf = (text: string, environment = {}): string[] => {
  try {
    readBridgeConfig(text, 'bridge.yaml', environment);
    return [];
  } catch (thrown) {
    return (thrown as Error).message.split('\n');
  }
};

describe('readBridgeConfig', () => {
  it('reads a single agent and applies defaults', () => {
    const text = 'agent_name: weather\na2a_server_url: http://localhost:4000\n';
    expect(readBridgeConfig(text, 'bridge.yaml', {})).toEqual([
      { ...defaults, agentName: 'weather', url: 'http://localhost:4000' },
    ]);
  });

  it('reads all settings of several agents', () => {
    const text = `agents:
  - agent_name: images
    a2a_server_url: http://localhost:10001
    a2a_server_command: uv run . --port 10001
    a2a_server_working_dir: ./agents/images
    a2a_server_env_file: .env
    a2a_server_startup_timeout: 60
    a2a_server_restart_on_crash: false
    a2a_bearer_token: \${IMAGES_TOKEN}
    input_required_ttl: "\${TTL, 600}"
  - agent_name: other
    a2a_server_url: https://example.com/a2a
    a2a_server_command: [node, my agent.js]
`;
    expect(readBridgeConfig(text, '/etc/bridge/bridge.yaml', { IMAGES_TOKEN: 'secret' })).toEqual([
      {
        agentName: 'images',
        url: 'http://localhost:10001',
        command: 'uv run . --port 10001',
        workingDir: '/etc/bridge/agents/images',
        envFile: '/etc/bridge/.env',
        startupTimeout: 60_000,
        restartOnCrash: false,
        bearerToken: 'secret',
        bearerAlways: false,
        inputRequiredTtl: 600,
      },
      {
        ...defaults,
        agentName: 'other',
        url: 'https://example.com/a2a',
        command: ['node', 'my agent.js'],
      },
    ]);
  });

  it('reads missing and empty keys from the environment', () => {
    const environment = {
      CREW_AI_A2A_SERVER_URL: 'http://localhost:1',
      CREW_AI_A2A_SERVER_COMMAND: 'not this one',
      CREW_AI_A2A_SERVER_STARTUP_TIMEOUT: '5',
      CREW_AI_A2A_SERVER_RESTART_ON_CRASH: 'false',
      CREW_AI_A2A_BEARER_TOKEN: '',
    };
    const text = 'agent_name: crew-ai\na2a_server_command: node agent.js\na2a_bearer_token: ""\n';
    expect(readBridgeConfig(text, 'bridge.yaml', environment)).toEqual([
      {
        ...defaults,
        agentName: 'crew-ai',
        url: 'http://localhost:1',
        command: 'node agent.js',
        startupTimeout: 5000,
        restartOnCrash: false,
      },
    ]);
  });

  it.each<[string, string, string[]]>([
    ['a missing URL', 'agent_name: a\n', ['bridge.yaml:1:1: a2a_server_url: is missing']],
    [
      'an invalid URL',
      'agent_name: a\na2a_server_url: localhost:4000\n',
      ['bridge.yaml:2:1: a2a_server_url: must be an absolute URL, such as http://localhost:4000'],
    ],
    [
      'an unknown key',
      'agent_name: a\na2a_server_url: http://a\na2a_server_timeout: 3\n',
      ['bridge.yaml:3:1: a2a_server_timeout: unknown key'],
    ],
    [
      'a name with a slash',
      'agent_name: a/b\na2a_server_url: http://a\n',
      ['bridge.yaml:1:1: agent_name: must not contain spaces or slashes'],
    ],
    [
      'an invalid number of seconds',
      'agents:\n  - agent_name: a\n    a2a_server_url: http://a\n    input_required_ttl: soon\n',
      ['bridge.yaml:4:5: agents[0].input_required_ttl: expected number, received string'],
    ],
    [
      'a duplicate agent name',
      'agents:\n  - { agent_name: a, a2a_server_url: http://a }\n  - { agent_name: a, a2a_server_url: http://b }\n',
      ['bridge.yaml:3:7: agents[1].agent_name: must be unique'],
    ],
    [
      'an environment variable that is not set',
      'agent_name: a\na2a_server_url: ${URL}\n',
      ['bridge.yaml:2:1: a2a_server_url: environment variable URL is not set and has no default'],
    ],
    ['an empty list of agents', 'agents: []\n', ['bridge.yaml:1:1: agents: must name at least one agent']],
  ])('reports %s with line and column', (_what, text, diagnostics) => {
    expect(diagnosticsOf(text)).toEqual(diagnostics);
  });
});

describe('bridgeConfigFromEnvironment', () => {
  it('reads all settings of an agent, with or without SERVER in the names', () => {
    const environment = {
      WEATHER_A2A_SERVER_URL: 'http://localhost:4000',
      WEATHER_A2A_SERVER_COMMAND: 'node agent.js',
      WEATHER_A2A_SERVER_WORKING_DIR: 'agents',
      WEATHER_A2A_SERVER_ENV_FILE: '/etc/weather.env',
      WEATHER_A2A_SERVER_STARTUP_TIMEOUT: '10',
      WEATHER_A2A_SERVER_RESTART_ON_CRASH: 'true',
      WEATHER_A2A_BEARER_TOKEN: 'secret',
      WEATHER_INPUT_REQUIRED_TTL: '60',
    };
    const config = {
      agentName: 'weather',
      url: 'http://localhost:4000',
      command: 'node agent.js',
      workingDir: resolve('agents'),
      envFile: '/etc/weather.env',
      startupTimeout: 10_000,
      restartOnCrash: true,
      bearerToken: 'secret',
      bearerAlways: false,
      inputRequiredTtl: 60,
    };
    expect(bridgeConfigFromEnvironment('weather', environment)).toEqual(config);
    const { WEATHER_A2A_BEARER_TOKEN, WEATHER_INPUT_REQUIRED_TTL, ...rest } = environment;
    expect(
      bridgeConfigFromEnvironment('weather', {
        ...rest,
        WEATHER_A2A_SERVER_BEARER_TOKEN: WEATHER_A2A_BEARER_TOKEN,
        WEATHER_A2A_SERVER_INPUT_REQUIRED_TTL: WEATHER_INPUT_REQUIRED_TTL,
      }),
    ).toEqual(config);
  });

  it('names the missing or invalid variable', () => {
    expect(() => bridgeConfigFromEnvironment('weather', {})).toThrow('WEATHER_A2A_SERVER_URL is missing');
    expect(() =>
      bridgeConfigFromEnvironment('weather', {
        WEATHER_A2A_SERVER_URL: 'http://localhost:4000',
        WEATHER_INPUT_REQUIRED_TTL: '-1',
      }),
    ).toThrow('WEATHER_INPUT_REQUIRED_TTL must be greater than 0 seconds');
    expect(() => bridgeConfigFromEnvironment('a/b', { A_B_A2A_SERVER_URL: 'http://a' })).toThrow(
      'agent_name must not contain spaces or slashes',
    );
  });
});

describe('bridgeJsonSchema', () => {
  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(bridgeJsonSchema());

  it('equals schemas/bridge.schema.json (run scripts/schemas.mjs after a build)', () => {
    const published = new URL('../../schemas/bridge.schema.json', import.meta.url);
    expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(bridgeJsonSchema());
  });

  it('accepts the example of the guide and agents without a URL', () => {
    const [fence] = codeBlocksOf('docs/guide/supervisor.md').filter(({ language }) => language === 'yaml');
    expect(isValid(Document.parse(fence?.code ?? '', 'bridge.yaml').value)).toBe(true);
    expect(
      isValid({ agents: [{ agent_name: 'a' }, { agent_name: 'b', a2a_server_command: ['node', 'b.js'] }] }),
    ).toBe(true);
  });

  it.each([{}, { agents: [] }, { agent_name: 'a', a2a_server_ulr: 'http://a' }, { agent_name: 'a/b' }])(
    'rejects %j',
    (invalid) => {
      expect(isValid(invalid)).toBe(false);
    },
  );
});
