import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withMovablePorts, readUpConfig } from './up-config.ts';
import { upJsonSchema } from './up-config-schema.ts';

const sample = fileURLToPath(new URL('../../examples/up/dragoman.yaml', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-up-'));
  for (const name of ['agent.js', 'script.yaml']) writeFileSync(join(folder, name), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (text: string, environment = {}) => readUpConfig(text, join(folder, 'up.yaml'), environment);
const diagnosticsOf = (text: string): string[] => {
  try {
    read(text);
    return [];
  } catch (thrown) {
    return (thrown as Error).message.split('\n').map((line) => line.replace(`${folder}/`, ''));
  }
};

describe('readUpConfig', () => {
  it('reads hosted agents, gateway, MCP and console settings', () => {
    const { hosted, gateway, gatewayPort, mcp, console } = read(`
listen: 5000
agents:
  mine: { module: agent.js, port: 5001 }
  old: { script: script.yaml, only_version: "0.1", display_name: Old }
  far: { url: https://far.example.com }
bridge: { mcp: {} }
console: { port: 0 }
`);
    expect(hosted).toEqual([
      { name: 'mine', kind: 'module', file: join(folder, 'agent.js'), port: 5001, onlyVersion: undefined },
      { name: 'old', kind: 'script', file: join(folder, 'script.yaml'), port: 0, onlyVersion: '0.1' },
    ]);
    expect(gateway.agents.map(({ name, displayName, source }) => [name, displayName, source.kind])).toEqual([
      ['mine', undefined, 'module'],
      ['old', 'Old', 'module'],
      ['far', undefined, 'url'],
    ]);
    expect(gatewayPort).toEqual({ port: 5000, mayMove: false });
    expect(mcp).toEqual({ port: 4100, mayMove: true });
    expect(console).toEqual({ port: 0, mayMove: false });
  });

  it('enables the console and a short drain time by default', () => {
    const { mcp, console, gatewayPort, gateway } = read('agents: { mine: { module: agent.js } }');
    expect(mcp).toBeUndefined();
    expect(console).toEqual({ port: 4200, mayMove: true });
    expect(gatewayPort).toEqual({ port: 4000, mayMove: true });
    expect(gateway.drain).toBe(500);
    expect(read('agents: { mine: { module: agent.js } }\nconsole: false').console).toBeUndefined();
  });

  it('interpolates environment variables', () => {
    const text = 'listen: ${PORT, 7000}\nagents: { mine: { module: agent.js, port: "${OWN}" } }';
    const { gatewayPort, hosted } = read(text, { OWN: '7001' });
    expect(gatewayPort.port).toBe(7000);
    expect(hosted[0]?.port).toBe(7001);
    expect(diagnosticsOf(text)).toEqual([
      'up.yaml:2:37: agents.mine.port: environment variable OWN is not set and has no default',
    ]);
  });

  it.each([
    [
      'a missing script file',
      'agents:\n  mine:\n    script: gone.yaml\n',
      /^up\.yaml:3:5: agents\.mine\.script: file not found: .*gone\.yaml$/,
    ],
    [
      'an invalid only_version',
      'agents:\n  mine:\n    module: agent.js\n    only_version: "1.0"\n',
      /^up\.yaml:4:5: agents\.mine\.only_version: must be "0\.1" or "0\.3", in quotes$/,
    ],
    ['an unknown key', 'agents:\n  mine: { module: agent.js }\nbridges: {}\n', /^up\.yaml:3:1: bridges: /],
    ['an invalid agent name', 'agents:\n  a b: { module: agent.js }\n', /^up\.yaml:2:3: /],
    [
      'a console that is a number',
      'agents:\n  mine: { module: agent.js }\nconsole: 0\n',
      /^up\.yaml:3:1: console: must be false or an object with a port, as in \{ port: 4200 \}/,
    ],
    ['no agents', 'agents: {}\n', /^up\.yaml:1:1: agents: must name at least one agent/],
    [
      'exposure on a mesh without mesh settings',
      'agents:\n  mine:\n    module: agent.js\n    expose: [mesh]\n',
      /^up\.yaml:4:5: agents\.mine\.expose: must not contain mesh/,
    ],
    [
      'a bridge without an agent exposed over HTTP',
      'mesh: { url: "memory:", namespace: a }\nagents:\n  mine: { module: agent.js, expose: [mesh] }\nbridge: { mcp: {} }\n',
      /^up\.yaml:4:1: bridge: requires an agent/,
    ],
    [
      'a bridge without credentials for the gateway',
      'agents:\n  mine: { module: agent.js }\nauth: { bearer: [{ token: t, principal: c }] }\nbridge: { mcp: {} }\n',
      /^up\.yaml:4:1: bridge: /,
    ],
  ])('reports %s with line and column', (_what, text, diagnostic) => {
    expect(diagnosticsOf(text)).toEqual([expect.stringMatching(diagnostic)]);
  });
});

describe('sample configuration', () => {
  it('accepts the sample configuration with two agents and any port', () => {
    const settings = withMovablePorts(readUpConfig(readFileSync(sample, 'utf8'), sample, {}));
    expect(settings.hosted.map(({ name, kind, onlyVersion }) => [name, kind, onlyVersion])).toEqual([
      ['interpreter', 'module', undefined],
      ['caravan', 'script', '0.1'],
    ]);
    expect(
      settings.gateway.agents.every(({ exposeOnHttp, exposeOnMesh }) => exposeOnHttp && exposeOnMesh),
    ).toBe(true);
    expect([settings.gatewayPort, settings.mcp, settings.console].every((each) => each?.mayMove)).toBe(true);
  });
});

describe('upJsonSchema', () => {
  it('equals schemas/up.schema.json', () => {
    const published = fileURLToPath(new URL('../../schemas/up.schema.json', import.meta.url));
    expect(existsSync(published)).toBe(true);
    expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(upJsonSchema());
  });
});
