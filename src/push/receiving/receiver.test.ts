import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { newTask } from '../../../test/contracts/task-store/actions.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { type WebhookRequest, pushReceiver, type PushReceiverOptions } from './receiver.ts';
import { pushSigner } from '../sending/signer.ts';

const url = 'https://hooks.example/a2a?secret=1';
const at = Date.parse('2026-06-01T10:00:00Z');
const event: StreamEvent = { kind: 'task', task: newTask('t') };
const body = JSON.stringify(v1_0.notification.write(event, newTask('t')));
const signer = pushSigner({ algorithm: 'ES256' });

async function signed(more: Partial<Parameters<typeof signer.sign>[0]> = {}): Promise<WebhookRequest> {
  const jwt = await signer.sign({ id: 't:p:1', url, body, at, ...more });
  return { headers: { authorization: `Bearer ${jwt}`, 'x-a2a-delivery-id': more.id ?? 't:p:1' }, body };
}

async function receiver(options: Partial<PushReceiverOptions> = {}) {
  return pushReceiver({ keys: await signer.jwks(), url, now: () => at, ...options });
}

describe('pushReceiver with token', () => {
  const headers = { 'X-A2A-Notification-Token': 'sesame' };
  it.each<[string, PushReceiverOptions, WebhookRequest['headers'], number | 'accepted']>([
    ['the token', { token: 'sesame' }, headers, 'accepted'],
    ['one of two tokens', { token: ['new', 'sesame'] }, headers, 'accepted'],
    ['another token', { token: 'open' }, headers, 401],
    ['a prefix of the token', { token: 'sesame2' }, headers, 401],
    ['no token', { token: 'sesame' }, {}, 401],
    ['two tokens at once', { token: 'sesame' }, { 'x-a2a-notification-token': ['sesame', 'x'] }, 401],
  ])('checks %s', async (_what, options, given, outcome) => {
    const received = await pushReceiver(options).receive({ headers: given, body });
    expect(received.ok ? 'accepted' : received.status).toBe(outcome);
  });
});

describe('pushReceiver with authentication', () => {
  const { receive } = pushReceiver({ authentication: { scheme: 'Bearer', credentials: 'abc def' } });
  it.each([
    ['Bearer abc def', true],
    ['bearer abc def', true],
    ['Basic abc def', false],
    ['Bearer abc', false],
    ['abc def', false],
    [undefined, false],
  ])('checks Authorization %j', async (authorization, ok) => {
    expect(await receive({ headers: { authorization }, body })).toMatchObject({ ok });
  });
});

describe('pushReceiver', () => {
  it.each<[string, PushReceiverOptions]>([
    ['no options', {}],
    ['an empty token', { token: '' }],
    ['no tokens', { token: [] }],
    ['authentication and keys', { authentication: { scheme: 'a', credentials: 'b' }, keys: { keys: [] } }],
  ])('rejects %s', (_what, options) => {
    expect(() => pushReceiver(options)).toThrow(A2AError);
  });

  it.each([
    ['1.0', v1_0],
    ['0.3', v0_3],
    ['0.1', v0_1],
  ])('parses notifications of %s', async (version, dialect) => {
    const text = JSON.stringify(dialect.notification.write(event, newTask('t')));
    const { receive } = pushReceiver({ allowUnauthenticated: true });
    const received = await receive({ headers: {}, body: new TextEncoder().encode(text) });
    expect(received).toMatchObject({ ok: true, version, task: { id: 't', status: { state: 'submitted' } } });
  });

  it('parses status updates of 1.0', async () => {
    const { receive } = pushReceiver({ allowUnauthenticated: true });
    const statusUpdate = { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
    expect(await receive({ headers: {}, body: JSON.stringify({ statusUpdate }) })).toMatchObject({
      event: { kind: 'status', status: { state: 'working' } },
      task: undefined,
    });
  });

  it.each(['', '{', 'null', '7', '[]', '{}', '{"kind":"x"}', '{"task":7}', '{"statusUpdate":{}}'])(
    'rejects the body %j with 400',
    async (text) => {
      const { receive } = pushReceiver({ allowUnauthenticated: true });
      expect(await receive({ headers: {}, body: text })).toMatchObject({ ok: false, status: 400 });
    },
  );

  it('detects duplicates among the last maxRemembered deliveries', async () => {
    const { receive, forget } = pushReceiver({ allowUnauthenticated: true, maxRemembered: 2 });
    const seen = async (id: string) => {
      const received = await receive({ headers: { 'x-a2a-delivery-id': id }, body });
      return received.ok && received.isDuplicate;
    };
    expect([await seen('a'), await seen('a'), await seen('b'), await seen('a')]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([await seen('c'), await seen('b'), await seen('c')]).toEqual([false, false, true]);
    forget('c');
    expect(await seen('c')).toBe(false);
    const unnamed = { headers: {}, body };
    expect(await receive(unnamed)).toMatchObject({ id: undefined, isDuplicate: false });
    expect(await receive(unnamed)).toMatchObject({ isDuplicate: false });
  });
});

describe('pushReceiver with keys', () => {
  it('accepts a signed notification and detects its duplicate', async () => {
    const { receive } = await receiver();
    expect(await receive(await signed())).toMatchObject({ ok: true, id: 't:p:1', isDuplicate: false });
    expect(await receive(await signed())).toMatchObject({ ok: true, id: 't:p:1', isDuplicate: true });
  });

  it('accepts an RSA signature of a PEM key', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const other = pushSigner({ key: pem, kid: 'k1' });
    const jwks = await other.jwks();
    expect(jwks.keys).toMatchObject([{ kid: 'k1', alg: 'RS256', kty: 'RSA', use: 'sig' }]);
    expect(jwks.keys[0]).not.toHaveProperty('d');
    const { receive } = await receiver({ keys: jwks });
    const authorization = `Bearer ${await other.sign({ id: 'x', url, body, at })}`;
    expect(await receive({ headers: { authorization }, body })).toMatchObject({ ok: true, id: 'x' });
  });

  const digest = createHash('sha256').update(body).digest('hex');
  const claims = { request_body_sha256: digest, htu: 'https://hooks.example/a2a' };
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const bearer = (jwt: string): WebhookRequest => ({ headers: { authorization: `Bearer ${jwt}` }, body });
  const kidOf = async () => String((await signer.jwks()).keys[0]?.['kid']);

  it.each<[string, () => Promise<WebhookRequest>]>([
    ['a missing signature', async () => ({ headers: {}, body })],
    ['an empty token', async () => bearer('')],
    ['a malformed token', async () => bearer('a.b.c')],
    ['the algorithm none', async () => bearer(new UnsecuredJWT(claims).setIssuedAt(at / 1_000).encode())],
    [
      'the public key as a shared secret',
      async () => {
        const secret = new TextEncoder().encode(JSON.stringify((await signer.jwks()).keys[0]));
        const header = { alg: 'HS256', kid: await kidOf() };
        return bearer(
          await new SignJWT(claims)
            .setProtectedHeader(header)
            .setIssuedAt(at / 1_000)
            .sign(secret),
        );
      },
    ],
    [
      'another key with the same kid',
      async () => {
        const header = { alg: 'ES256', kid: await kidOf() };
        return bearer(
          await new SignJWT(claims)
            .setProtectedHeader(header)
            .setIssuedAt(at / 1_000)
            .sign(otherKey),
        );
      },
    ],
    [
      'another key with another kid',
      async () => {
        const header = { alg: 'ES256', kid: 'x' };
        return bearer(
          await new SignJWT(claims)
            .setProtectedHeader(header)
            .setIssuedAt(at / 1_000)
            .sign(otherKey),
        );
      },
    ],
    ['an expired signature', () => signed({ at: at - 311_000 })],
    ['a signature from the future', () => signed({ at: at + 86_400_000 })],
    ['a changed body', async () => ({ ...(await signed()), body: body.replace('SUBMITTED', 'COMPLETED') })],
    ['a body with trailing space', async () => ({ ...(await signed()), body: `${body} ` })],
    ['a signature for another host', () => signed({ url: 'https://evil.example/a2a' })],
    ['a signature for another path', () => signed({ url: 'https://hooks.example/b' })],
    [
      'a changed delivery id',
      async () => ({
        ...(await signed()),
        headers: { ...(await signed()).headers, 'x-a2a-delivery-id': 'n' },
      }),
    ],
  ])('rejects %s with 401', async (_what, make) => {
    const { receive } = await receiver();
    expect(await receive(await make())).toMatchObject({ ok: false, status: 401 });
  });

  it('caches the JWKS and fetches it again for unknown keys at most every 30 s', async () => {
    let now = at;
    let fetches = 0;
    let current = signer;
    const { receive } = pushReceiver({
      keys: 'https://agent.example/.well-known/jwks.json',
      now: () => now,
      fetch: async () => {
        fetches++;
        return { ok: true, json: () => current.jwks() };
      },
    });
    for (let n = 0; n < 3; n++) expect(await receive(await signed())).toMatchObject({ ok: true });
    expect(fetches).toBe(1);
    current = pushSigner({ algorithm: 'ES256' });
    const signedByNewKey = async () => bearer(await current.sign({ id: 'n', url, body, at: now }));
    for (let n = 0; n < 3; n++) expect(await receive(await signedByNewKey())).toMatchObject({ status: 401 });
    expect(fetches).toBe(1);
    now += 30_000;
    expect(await receive(await signedByNewKey())).toMatchObject({ ok: true });
    expect(fetches).toBe(2);
  });

  it('responds 503 while the JWKS cannot be fetched', async () => {
    let now = at;
    let isUp = false;
    const { receive } = pushReceiver({
      keys: 'https://agent.example/keys',
      now: () => now,
      fetch: async () => {
        if (!isUp) throw new Error('down');
        return { ok: true, json: () => signer.jwks() };
      },
    });
    expect(await receive(await signed())).toMatchObject({ ok: false, status: 503 });
    isUp = true;
    now += 1_000;
    expect(await receive(await signed())).toMatchObject({ ok: true });
  });
});

describe('pushSigner', () => {
  it.each<[string, Parameters<typeof pushSigner>[0]]>([
    ['a malformed key', { key: 'noise' }],
    ['a short key', { key: toPem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey) }],
    ['the curve P-384', { key: toPem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey) }],
    ['an Ed25519 key', { key: toPem(generateKeyPairSync('ed25519').privateKey) }],
    ['a public key', { key: { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' } }],
  ])('rejects %s', async (_what, options) => {
    await expect(pushSigner(options).jwks()).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      violations: [{ field: 'key' }],
    });
  });

  it('generates one key, RSA by default', async () => {
    const generated = pushSigner();
    expect(await generated.jwks()).toEqual(await generated.jwks());
    expect((await generated.jwks()).keys).toMatchObject([{ kty: 'RSA', alg: 'RS256' }]);
  });
});

function toPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
