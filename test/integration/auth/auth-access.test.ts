import { describe, expect, it } from 'vitest';
import { apiKeyAuth } from '../../../src/server/auth/schemes/api-key.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { serverAdapters } from '../../support/server/server-adapters.ts';
import {
  withToken,
  message1_0,
  headers1_0,
  rpcRequest,
  testTokens,
  serveObserved,
} from '../../support/server/telemetry-fixtures.ts';

describe.each(serverAdapters)('authorization at $name', ({ open }) => {
  const { calls, start, send } = serveObserved(open);

  it('returns the extended card to authenticated clients only, even with allowAnonymous', async () => {
    const door = await start({ authenticators: [bearerAuth({ tokens: testTokens })], allowAnonymous: true });
    expect((await send(door, {})).status).toBe(200);
    expect(calls[0]?.principal).toBeUndefined();
    expect((await send(door, withToken('wrong'))).status).toBe(401);
    const requests: [string, { method?: string; headers?: Record<string, string>; body?: string }][] = [
      ['/extendedAgentCard', { headers: headers1_0 }],
      ['/v1/card', {}],
      ['/agent/authenticatedExtendedCard', {}],
      ['/', { method: 'POST', headers: headers1_0, body: rpcRequest('GetExtendedAgentCard', {}) }],
      [
        '/',
        {
          method: 'POST',
          headers: { 'a2a-version': '0.3', 'content-type': 'application/json' },
          body: rpcRequest('agent/getAuthenticatedExtendedCard', undefined),
        },
      ],
    ];
    for (const [path, init] of requests) {
      const refused = await door.request(path, init);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="a2a"');
      const given = await door.request(path, {
        ...init,
        headers: { ...init.headers, ...withToken('alice') },
      });
      expect(given.status).toBe(200);
      expect(await given.text()).toContain('For alice');
    }
    const card: any = await (
      await door.request('/.well-known/agent-card.json', { headers: headers1_0 })
    ).json();
    expect(card.securityRequirements).toEqual([{ schemes: { bearer: {} } }, { schemes: {} }]);
  });

  const skills = [
    { id: 'read' },
    { id: 'write', securityRequirements: [{ bearer: ['write'] }] },
    { id: 'other', securityRequirements: [{ vault: [] }] },
  ];
  it.each([
    ['skillId of the message', (skill: string) => ({ message: message1_0({ skillId: skill }) })],
    ['skill of the message', (skill: string) => ({ message: message1_0({ skill }) })],
    ['skillId of the request', (skill: string) => ({ message: message1_0(), metadata: { skillId: skill } })],
    ['two of them', (skill: string) => ({ message: message1_0({ skillId: 'read' }), metadata: { skill } })],
  ])('enforces the security requirements of a skill named by %s', async (_where, params) => {
    const door = await start(
      { authenticators: [bearerAuth({ tokens: testTokens })], allowAnonymous: true },
      { skills },
    );
    const ask = (skill: string, headers: Record<string, string>, stream = '') =>
      door.request('/', {
        method: 'POST',
        headers: { ...headers1_0, ...headers },
        body: rpcRequest(`Send${stream}Message`, params(skill)),
      });
    expect((await ask('write', withToken('bob'))).status).toBe(200);
    expect((await ask('read', withToken('alice'))).status).toBe(200);
    expect((await ask('none', withToken('alice'))).status).toBe(200);
    for (const stream of ['', 'Streaming']) {
      const refused = await ask('write', withToken('alice'), stream);
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
    // No authenticator implements this scheme.
    expect((await ask('other', withToken('bob'))).status).toBe(403);
  });

  it('enforces the security requirements of the card', async () => {
    const door = await start(
      {
        authenticators: [
          bearerAuth({ tokens: testTokens }),
          apiKeyAuth({ in: 'header', name: 'X-Key', keys: { k: 'kay' } }),
        ],
      },
      {
        securitySchemes: { vault: { type: 'mutualTLS' }, bearer: { type: 'http', scheme: 'bearer' } },
        securityRequirements: [{ bearer: ['read'] }, { vault: [] }],
      },
    );
    const card: any = await (
      await door.request('/.well-known/agent-card.json', { headers: headers1_0 })
    ).json();
    expect(Object.keys(card.securitySchemes)).toEqual(['vault', 'bearer', 'apiKey']);
    expect(card.securityRequirements).toEqual([{ schemes: { bearer: { list: ['read'] } } }]);
    expect((await send(door, withToken('bob'))).status).toBe(200);
    const refused = await send(door, withToken('alice'));
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { status: 'PERMISSION_DENIED' } });
    expect((await send(door, { 'x-key': 'k' })).status).toBe(403);
  });

  it('calls authorize() with principal, operation, skill and tenant', async () => {
    const requests: unknown[] = [];
    const door = await start({
      authenticators: [bearerAuth({ tokens: testTokens })],
      allowAnonymous: true,
      authorize: async (principal, { operation, skillId, tenant }) => {
        requests.push([principal?.id, operation, skillId, tenant]);
        return principal?.id === 'bob';
      },
    });
    expect((await send(door, withToken('bob'), { skillId: 'x' })).status).toBe(200);
    const forbidden = await door.request('/acme/tasks/none', {
      headers: { ...headers1_0, ...withToken('alice') },
    });
    expect(forbidden.status).toBe(403);
    expect(forbidden.headers.get('www-authenticate')).toBeNull();
    expect((await door.request('/tasks/none', { headers: headers1_0 })).status).toBe(401);
    expect(
      (await door.request('/tasks/none', { headers: { ...headers1_0, ...withToken('bob') } })).status,
    ).toBe(404);
    expect(requests).toEqual([
      ['bob', 'send', 'x', undefined],
      ['alice', 'getTask', undefined, 'acme'],
      [undefined, 'getTask', undefined, undefined],
      ['bob', 'getTask', undefined, undefined],
    ]);
  });
});
