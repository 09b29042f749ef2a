import { describe, expect, it } from 'vitest';
import { parseStoreUrl } from './parse-store-url.ts';
import { resolveStoreFile, storeOfAgent } from './store-of-agent.ts';

describe('storeOfAgent', () => {
  it.each([
    ['sqlite:data/tasks.db?shared', 'weather', { file: 'data/tasks-weather.db', shared: true }],
    ['sqlite:tasks', 'a.b', { file: 'tasks-a.b' }],
    ['postgres://db/agents', 'weather', { schema: 'dragoman_weather' }],
    ['postgres://db/agents?schema=mine', 'weather', { schema: 'mine_weather' }],
    ['memory', 'weather', { kind: 'memory' }],
  ])('gives %s of %s a place of its own', (url, name, expected) => {
    expect(storeOfAgent(parseStoreUrl(url), name)).toMatchObject(expected);
  });

  it('keeps agents apart whose names become the same identifier', () => {
    const names = ['a.b', 'a-b', 'a_b', 'A_b', 'x'.repeat(100), `${'x'.repeat(99)}y`];
    const schemas = names.map((name) => storeOfAgent(parseStoreUrl('postgres://db/agents'), name));
    const valid = schemas.map((each) => (each.kind === 'postgres' ? each.schema : ''));
    expect(new Set(valid).size).toBe(names.length);
    for (const schema of valid) expect(schema).toMatch(/^[a-z_][a-z0-9_]{0,47}$/);
  });
});

describe('resolveStoreFile', () => {
  it('resolves files only', () => {
    expect(resolveStoreFile(parseStoreUrl('sqlite:tasks.db'), '/srv')).toMatchObject({
      file: '/srv/tasks.db',
    });
    expect(resolveStoreFile(parseStoreUrl('memory'), '/srv')).toMatchObject({ kind: 'memory' });
  });
});
