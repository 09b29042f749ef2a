import { describe, expect, it } from 'vitest';
import { isCatalog, newestVersions, readCatalog, writeCatalog } from './ai-catalog.ts';

const url = 'https://host.example/.well-known/ai-catalog.json';
const type = 'application/a2a-agent-card+json';
const read = (...entries: unknown[]) => readCatalog({ entries }, url);

it('reads back the agents that it writes', () => {
  const cardUrl = 'https://host.example/agents/echo/card.json';
  const wire = writeCatalog('https://host.example', [{ name: 'echo', cardUrl }]);
  expect(wire).toEqual({
    specVersion: '1.0',
    host: { displayName: 'host.example' },
    entries: [{ identifier: 'urn:air:host.example:agent:echo', type, displayName: 'echo', url: cardUrl }],
  });
  expect(isCatalog(wire) && readCatalog(wire, url)).toEqual({
    url,
    agents: [{ identifier: 'urn:air:host.example:agent:echo', name: 'echo', tags: [], cardUrl }],
    omitted: 0,
  });
});

it.each([
  ['http://[::1]:4000', 'echo'],
  ['http://localhost', 'a~b'],
  ['http://a:b:c', 'a~b'],
])('identifies an agent of %s by its card if the URN has no form for %s', (host, name) => {
  expect(writeCatalog(host, [{ name, cardUrl: 'http://h/card' }]).entries).toMatchObject([
    { identifier: 'http://h/card' },
  ]);
});

describe('readCatalog', () => {
  it('leaves out entries of other types without counting them', () => {
    const others = ['application/mcp-server-card+json', 'application/ai-catalog+json', 7, undefined];
    const entries = others.map((other) => ({ identifier: 'x', type: other, url: 'https://x' }));
    expect(read(...entries, null, 'text', [])).toMatchObject({ agents: [], omitted: 0 });
  });

  it('accepts the type with parameters, and by its name in drafts', () => {
    const entries = [
      { identifier: 'a', type: 'Application/A2A-agent-card+json; version=1', url: 'https://a' },
      { identifier: 'b', mediaType: type, url: 'https://b' },
    ];
    expect(read(...entries).agents).toHaveLength(2);
  });

  it('names an agent by its entry, its card or the end of its identifier', () => {
    const { agents } = read(
      { identifier: 'urn:air:x:agent:one', type, displayName: 'One', data: { name: 'Card' } },
      { identifier: 'urn:air:x:agent:two', type, data: { name: 'Card', description: 'From it' } },
      { identifier: 'https://x/agents/three/', type, url: 'https://x' },
      { identifier: '::', type, url: 'https://x' },
    );
    expect(agents.map(({ name }) => name)).toEqual(['One', 'Card', 'three', '::']);
    expect(agents[1]).toMatchObject({ card: { name: 'Card' }, description: 'From it' });
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://user:secret@x.example',
    `https://x.example/${'a'.repeat(2_000)}`,
    'https://',
    7,
    undefined,
  ])('counts an entry with the URL %s as left out', (wrong) => {
    expect(read({ identifier: 'a', type, url: wrong })).toMatchObject({ agents: [], omitted: 1 });
  });

  it('resolves relative URLs', () => {
    expect(read({ identifier: 'a', type, url: '/a/card' }).agents[0]?.cardUrl).toBe(
      'https://host.example/a/card',
    );
  });

  it('bounds the number of agents and the length of their texts', () => {
    const long = 'x'.repeat(5_000);
    const entry = (i: number) => ({
      identifier: `${i}${long}`,
      type,
      url: 'https://x',
      displayName: long,
      description: long,
      version: long,
      tags: [...Array.from({ length: 1_000 }, () => long), 7],
    });
    const catalog = read(...Array.from({ length: 1_010 }, (_, i) => entry(i)));
    expect(catalog.agents).toHaveLength(1_000);
    expect(catalog.omitted).toBe(10);
    expect(JSON.stringify(catalog.agents[0]).length).toBeLessThan(20_000);
  });
});

it('selects the newest version of each agent', () => {
  const { agents } = read(
    { identifier: 'a', version: '2.9.0', type, url: 'https://a/9' },
    { identifier: 'a', version: '2.10.0', type, url: 'https://a/10' },
    { identifier: 'a', version: '1.0.0', type, url: 'https://a/1' },
    { identifier: 'b', type, url: 'https://b' },
  );
  expect(newestVersions(agents).map(({ cardUrl }) => cardUrl)).toEqual(['https://a/10', 'https://b/']);
});
