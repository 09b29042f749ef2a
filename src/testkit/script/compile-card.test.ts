import { describe, expect, it } from 'vitest';
import type { Authenticator, AuthenticationInput } from '../../server/auth/authenticator.ts';
import { openScript } from './script.ts';

/** Builds a request with headers. */
const requestWith = (headers: AuthenticationInput['headers']): AuthenticationInput => ({
  method: 'POST',
  path: '/',
  query: '',
  headers,
  isSecure: true,
  onDisconnect: () => {},
});

const authenticate = async (
  authenticator: Authenticator | undefined,
  headers: AuthenticationInput['headers'],
): Promise<unknown> => {
  try {
    return (await authenticator?.authenticate(requestWith(headers)))?.id;
  } catch (thrown) {
    return (thrown as { reason?: string }).reason;
  }
};

describe('compileCard', () => {
  it('uses a default name and description', () => {
    const script = openScript('rules: []', 'a.yaml');
    expect(script.card).toEqual({ name: 'Test agent', description: 'Mock agent that plays a script' });
    expect(script).toMatchObject({ name: 'a.yaml', clock: 'system', seed: 0, cardFaults: [] });
    expect(script.auth).toBeUndefined();
  });

  it('returns the fields of the script', () => {
    const script = openScript(
      `
name: Demo
clock: virtual
seed: 7
agent:
  description: Does things
  version: "2.0"
  documentation_url: https://docs.test
  input_modes: [text/plain]
  streaming: false
  push: true
  skills: [{ id: book, tags: [a], output_modes: [text/csv] }]
  extensions: [{ uri: "urn:x", required: true }]
  fault: [{ card: { override: { name: null } } }, { delay: 2s }]
`,
      'a.yaml',
    );
    expect(script).toMatchObject({ name: 'Demo', clock: 'virtual', seed: 7 });
    expect(script.card).toEqual({
      name: 'Demo',
      description: 'Does things',
      version: '2.0',
      documentationUrl: 'https://docs.test',
      defaultInputModes: ['text/plain'],
      streaming: false,
      pushNotifications: true,
      skills: [{ id: 'book', tags: ['a'], outputModes: ['text/csv'] }],
      extensions: [{ uri: 'urn:x', required: true }],
    });
    expect(script.cardFaults).toEqual([
      { kind: 'card', on: 'card', override: { name: null } },
      { kind: 'delay', on: 'card', duration: 2_000 },
    ]);
  });

  it('compiles security schemes and authenticates the listed clients', async () => {
    const script = openScript(
      `
agent:
  security:
    optional: true
    schemes:
      token: { type: bearer, format: JWT }
      key: { type: api_key, in: header, name: X-Key, description: A key }
      password: { type: basic }
      login:
        type: oauth2
        flows: { client_credentials: { token_url: "https://i.test/token", scopes: { read: Reads } } }
      id: { type: open_id_connect, url: "https://i.test/.well-known/openid-configuration" }
      certificate: { type: mutual_tls }
    clients:
      - { name: alice, scheme: token, secret: t-1, scopes: [read] }
      - { name: bob, scheme: key, secret: k-1 }
      - { name: carol, scheme: password, secret: same }
      - { name: dave, scheme: password, secret: same }
      - { name: erin, scheme: login, secret: t-2 }
`,
      'a.yaml',
    );
    expect(script.card.securitySchemes).toEqual({
      token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      key: { type: 'apiKey', location: 'header', name: 'X-Key', description: 'A key' },
      password: { type: 'http', scheme: 'basic' },
      login: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'https://i.test/token', scopes: { read: 'Reads' } } },
      },
      id: { type: 'openIdConnect', openIdConnectUrl: 'https://i.test/.well-known/openid-configuration' },
      certificate: { type: 'mutualTLS' },
    });
    expect(script.card.securityRequirements).toHaveLength(6);
    const { authenticators = [], allowAnonymous } = script.auth ?? {};
    expect(allowAnonymous).toBe(true);
    expect(authenticators.map(({ schemes }) => Object.keys(schemes).join())).toEqual([
      'token',
      'key',
      'password',
      'login',
    ]);
    expect(authenticators[3]?.schemes).toEqual({ login: script.card.securitySchemes?.login });
    const [token, key, password, login] = authenticators;
    const basic = (pair: string): AuthenticationInput['headers'] => ({
      authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
    });
    expect(await authenticate(token, { authorization: 'Bearer t-1' })).toBe('alice');
    expect(await authenticate(token, { authorization: 'Bearer t-2' })).toBe('UNAUTHENTICATED');
    expect(await authenticate(key, { 'x-key': 'k-1' })).toBe('bob');
    expect(await authenticate(password, basic('dave:same'))).toBe('dave');
    expect(await authenticate(password, basic('carol:other'))).toBe('UNAUTHENTICATED');
    expect(await authenticate(login, { authorization: 'Bearer t-2' })).toBe('erin');
  });

  it('does not check credentials without clients', () => {
    const script = openScript('agent: { security: { schemes: { t: { type: bearer } } } }', 'a.yaml');
    expect(script.auth).toBeUndefined();
    expect(script.card.securityRequirements).toEqual([{ t: [] }]);
  });
});
