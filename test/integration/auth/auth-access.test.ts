import { describe, expect, it } from 'vitest';
import { apiKey } from '../../../src/server/auth/schemes/api-key.ts';
import { bearer } from '../../../src/server/auth/schemes/bearer.ts';
import { doors } from '../../support/server/server-adapters.ts';
import { as, message, modern, rpc, tokens, watch } from '../../support/server/telemetry-fixtures.ts';

describe.each(doors)('who got in through $name', ({ open }) => {
  const { calls, start, send } = watch(open);

  it('gets the extended card if it is known, even where others may call', async () => {
    const door = await start({ any: [bearer({ tokens })], isOptional: true });
    expect((await send(door, {})).status).toBe(200);
    expect(calls[0]?.principal).toBeUndefined();
    expect((await send(door, as('wrong'))).status).toBe(401);
    const asked: [string, { method?: string; headers?: Record<string, string>; body?: string }][] = [
      ['/extendedAgentCard', { headers: modern }],
      ['/v1/card', {}],
      ['/agent/authenticatedExtendedCard', {}],
      ['/', { method: 'POST', headers: modern, body: rpc('GetExtendedAgentCard', {}) }],
      [
        '/',
        {
          method: 'POST',
          headers: { 'a2a-version': '0.3', 'content-type': 'application/json' },
          body: rpc('agent/getAuthenticatedExtendedCard', undefined),
        },
      ],
    ];
    for (const [path, init] of asked) {
      const refused = await door.ask(path, init);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="a2a"');
      const given = await door.ask(path, { ...init, headers: { ...init.headers, ...as('alice') } });
      expect(given.status).toBe(200);
      expect(await given.text()).toContain('For alice');
    }
    const card: any = await (await door.ask('/.well-known/agent-card.json', { headers: modern })).json();
    expect(card.securityRequirements).toEqual([{ schemes: { bearer: {} } }, { schemes: {} }]);
  });

  const skills = [
    { id: 'read' },
    { id: 'write', securityRequirements: [{ bearer: ['write'] }] },
    { id: 'other', securityRequirements: [{ vault: [] }] },
  ];
  it.each([
    ['skillId of the message', (skill: string) => ({ message: message({ skillId: skill }) })],
    ['skill of the message', (skill: string) => ({ message: message({ skill }) })],
    ['skillId of the request', (skill: string) => ({ message: message(), metadata: { skillId: skill } })],
    ['two of them', (skill: string) => ({ message: message({ skillId: 'read' }), metadata: { skill } })],
  ])('needs what a skill needs that it names: %s', async (_where, params) => {
    const door = await start({ any: [bearer({ tokens })], isOptional: true }, { skills });
    const ask = (skill: string, headers: Record<string, string>, stream = '') =>
      door.ask('/', {
        method: 'POST',
        headers: { ...modern, ...headers },
        body: rpc(`Send${stream}Message`, params(skill)),
      });
    expect((await ask('write', as('bob'))).status).toBe(200);
    expect((await ask('read', as('alice'))).status).toBe(200);
    expect((await ask('none', as('alice'))).status).toBe(200);
    for (const stream of ['', 'Streaming']) {
      const refused = await ask('write', as('alice'), stream);
      expect(refused.status).toBe(403);
      expect(refused.headers.get('www-authenticate')).toBe(
        'Bearer realm="a2a", error="insufficient_scope", scope="write"',
      );
      expect(await refused.json()).toMatchObject({
        id: 5,
        error: { data: [{ reason: 'PERMISSION_DENIED', metadata: { scope: 'write' } }] },
      });
    }
    expect((await ask('write', {})).status).toBe(401);
    // Nobody here can check that one.
    expect((await ask('other', as('bob'))).status).toBe(403);
  });

  it('needs what the agent asks for on its card', async () => {
    const door = await start(
      { any: [bearer({ tokens }), apiKey({ in: 'header', name: 'X-Key', keys: { k: 'kay' } })] },
      {
        securitySchemes: { vault: { type: 'mutualTLS' }, bearer: { type: 'http', scheme: 'bearer' } },
        securityRequirements: [{ bearer: ['read'] }, { vault: [] }],
      },
    );
    const card: any = await (await door.ask('/.well-known/agent-card.json', { headers: modern })).json();
    expect(Object.keys(card.securitySchemes)).toEqual(['vault', 'bearer', 'apiKey']);
    expect(card.securityRequirements).toEqual([{ schemes: { bearer: { list: ['read'] } } }]);
    expect((await send(door, as('bob'))).status).toBe(200);
    const refused = await send(door, as('alice'));
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { status: 'PERMISSION_DENIED' } });
    expect((await send(door, { 'x-key': 'k' })).status).toBe(403);
  });

  it('may do what authorize allows', async () => {
    const asked: unknown[] = [];
    const door = await start({
      any: [bearer({ tokens })],
      isOptional: true,
      authorize: async (principal, { operation, skillId, tenant }) => {
        asked.push([principal?.id, operation, skillId, tenant]);
        return principal?.id === 'bob';
      },
    });
    expect((await send(door, as('bob'), { skillId: 'x' })).status).toBe(200);
    const forbidden = await door.ask('/acme/tasks/none', { headers: { ...modern, ...as('alice') } });
    expect(forbidden.status).toBe(403);
    expect(forbidden.headers.get('www-authenticate')).toBeNull();
    expect((await door.ask('/tasks/none', { headers: modern })).status).toBe(401);
    expect((await door.ask('/tasks/none', { headers: { ...modern, ...as('bob') } })).status).toBe(404);
    expect(asked).toEqual([
      ['bob', 'send', 'x', undefined],
      ['alice', 'getTask', undefined, 'acme'],
      [undefined, 'getTask', undefined, undefined],
      ['bob', 'getTask', undefined, undefined],
    ]);
  });
});
