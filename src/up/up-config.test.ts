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
const complaintsOf = (text: string): string[] => {
  try {
    read(text);
    return [];
  } catch (thrown) {
    return (thrown as Error).message.split('\n').map((line) => line.replace(`${folder}/`, ''));
  }
};

describe('the file of dragoman up', () => {
  it('names agents that run here, and everything around them', () => {
    const { hosted, gateway, gatewayPort, mcp, console } = read(`
listen: 5000
agents:
  mine: { module: agent.js, port: 5001 }
  old: { script: script.yaml, speaks: "0.1", display_name: Old }
  far: { url: https://far.example.com }
bridge: { mcp: {} }
console: { port: 0 }
`);
    expect(hosted).toEqual([
      { name: 'mine', kind: 'module', file: join(folder, 'agent.js'), port: 5001, speaks: undefined },
      { name: 'old', kind: 'script', file: join(folder, 'script.yaml'), port: 0, speaks: '0.1' },
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

  it('may say little: then there is a console, and nobody waits long for the end', () => {
    const { mcp, console, gatewayPort, gateway } = read('agents: { mine: { module: agent.js } }');
    expect(mcp).toBeUndefined();
    expect(console).toEqual({ port: 4200, mayMove: true });
    expect(gatewayPort).toEqual({ port: 4000, mayMove: true });
    expect(gateway.drain).toBe(500);
    expect(read('agents: { mine: { module: agent.js } }\nconsole: false').console).toBeUndefined();
  });

  it('has names of the environment filled in', () => {
    const text = 'listen: ${PORT, 7000}\nagents: { mine: { module: agent.js, port: "${OWN}" } }';
    const { gatewayPort, hosted } = read(text, { OWN: '7001' });
    expect(gatewayPort.port).toBe(7000);
    expect(hosted[0]?.port).toBe(7001);
    expect(complaintsOf(text)).toEqual([
      'up.yaml:2:37: agents.mine.port: OWN is not set, and there is no default',
    ]);
  });

  it.each([
    [
      'a file that is not there',
      'agents:\n  mine:\n    script: gone.yaml\n',
      /^up\.yaml:3:5: agents\.mine\.script: there is no file .*gone\.yaml$/,
    ],
    [
      'a version that nobody speaks alone',
      'agents:\n  mine:\n    module: agent.js\n    speaks: "1.0"\n',
      /^up\.yaml:4:5: agents\.mine\.speaks: must be "0\.1" or "0\.3", in quotes$/,
    ],
    ['an unknown key', 'agents:\n  mine: { module: agent.js }\nbridges: {}\n', /^up\.yaml:3:1: bridges: /],
    ['a name that is no part of an address', 'agents:\n  a b: { module: agent.js }\n', /^up\.yaml:2:3: /],
    [
      'a console that is a number',
      'agents:\n  mine: { module: agent.js }\nconsole: 0\n',
      /^up\.yaml:3:1: console: must be false, or say where, as in \{ port: 4200 \}/,
    ],
    ['no agents', 'agents: {}\n', /^up\.yaml:1:1: agents: must name at least one agent/],
    [
      'a mesh that is not there',
      'agents:\n  mine:\n    module: agent.js\n    show: [mesh]\n',
      /^up\.yaml:4:5: agents\.mine\.show: says mesh/,
    ],
    [
      'a bridge to agents that are on the mesh alone',
      'mesh: { url: "memory:", namespace: a }\nagents:\n  mine: { module: agent.js, show: [mesh] }\nbridge: { mcp: {} }\n',
      /^up\.yaml:4:1: bridge: has no agent/,
    ],
    [
      'a bridge that would have to prove who it is',
      'agents:\n  mine: { module: agent.js }\nauth: { bearer: [{ token: t, caller: c }] }\nbridge: { mcp: {} }\n',
      /^up\.yaml:4:1: bridge: /,
    ],
  ])('complains about %s where it stands', (_what, text, complaint) => {
    expect(complaintsOf(text)).toEqual([expect.stringMatching(complaint)]);
  });
});

describe('the sample', () => {
  it('is right, runs two agents, and takes any port', () => {
    const settings = withMovablePorts(readUpConfig(readFileSync(sample, 'utf8'), sample, {}));
    expect(settings.hosted.map(({ name, kind, speaks }) => [name, kind, speaks])).toEqual([
      ['interpreter', 'module', undefined],
      ['caravan', 'script', '0.1'],
    ]);
    expect(
      settings.gateway.agents.every(({ exposeOnHttp: onHttp, exposeOnMesh: onMesh }) => onHttp && onMesh),
    ).toBe(true);
    expect([settings.gatewayPort, settings.mcp, settings.console].every((each) => each?.mayMove)).toBe(true);
  });
});

describe('the schema of the file', () => {
  it('is published as it is', () => {
    const published = fileURLToPath(new URL('../../schemas/up.schema.json', import.meta.url));
    expect(existsSync(published)).toBe(true);
    expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(upJsonSchema());
  });
});
