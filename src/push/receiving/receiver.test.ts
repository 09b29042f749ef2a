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

describe('a receiver that knows a token', () => {
  const headers = { 'X-A2A-Notification-Token': 'sesame' };
  it.each<[string, PushReceiverOptions, WebhookRequest['headers'], number | 'in']>([
    ['the token', { token: 'sesame' }, headers, 'in'],
    ['one of two tokens', { token: ['new', 'sesame'] }, headers, 'in'],
    ['another token', { token: 'open' }, headers, 401],
    ['the beginning of the token', { token: 'sesame2' }, headers, 401],
    ['no token', { token: 'sesame' }, {}, 401],
    ['two tokens at once', { token: 'sesame' }, { 'x-a2a-notification-token': ['sesame', 'x'] }, 401],
  ])('meets %s', async (_what, options, given, outcome) => {
    const received = await pushReceiver(options).receive({ headers: given, body });
    expect(received.ok ? 'in' : received.status).toBe(outcome);
  });
});

describe('a receiver that knows credentials', () => {
  const { receive } = pushReceiver({ authentication: { scheme: 'Bearer', credentials: 'abc def' } });
  it.each([
    ['Bearer abc def', true],
    ['bearer abc def', true],
    ['Basic abc def', false],
    ['Bearer abc', false],
    ['abc def', false],
    [undefined, false],
  ])('meets %j', async (authorization, ok) => {
    expect(await receive({ headers: { authorization }, body })).toMatchObject({ ok });
  });
});

describe('a receiver', () => {
  it.each<[string, PushReceiverOptions]>([
    ['nothing', {}],
    ['an empty token', { token: '' }],
    ['no tokens', { token: [] }],
    ['two uses of one header', { authentication: { scheme: 'a', credentials: 'b' }, keys: { keys: [] } }],
  ])('is not made out of %s', (_what, options) => {
    expect(() => pushReceiver(options)).toThrow(A2AError);
  });

  it.each([
    ['1.0', v1_0],
    ['0.3', v0_3],
    ['0.1', v0_1],
  ])('reads %s', async (version, dialect) => {
    const text = JSON.stringify(dialect.notification.write(event, newTask('t')));
    const { receive } = pushReceiver({ allowUnauthenticated: true });
    const received = await receive({ headers: {}, body: new TextEncoder().encode(text) });
    expect(received).toMatchObject({ ok: true, version, task: { id: 't', status: { state: 'submitted' } } });
  });

  it('reads the single events of 1.0', async () => {
    const { receive } = pushReceiver({ allowUnauthenticated: true });
    const statusUpdate = { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
    expect(await receive({ headers: {}, body: JSON.stringify({ statusUpdate }) })).toMatchObject({
      event: { kind: 'status', status: { state: 'working' } },
      task: undefined,
    });
  });

  it.each(['', '{', 'null', '7', '[]', '{}', '{"kind":"x"}', '{"task":7}', '{"statusUpdate":{}}'])(
    'refuses %j',
    async (text) => {
      const { receive } = pushReceiver({ allowUnauthenticated: true });
      expect(await receive({ headers: {}, body: text })).toMatchObject({ ok: false, status: 400 });
    },
  );

  it('tells what comes again, as long as it remembers', async () => {
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

describe('a receiver that knows keys', () => {
  it('lets in what is signed, once as new', async () => {
    const { receive } = await receiver();
    expect(await receive(await signed())).toMatchObject({ ok: true, id: 't:p:1', isDuplicate: false });
    expect(await receive(await signed())).toMatchObject({ ok: true, id: 't:p:1', isDuplicate: true });
  });

  it('lets in what RSA has signed, from a key of PEM', async () => {
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
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const bearer = (jwt: string): WebhookRequest => ({ headers: { authorization: `Bearer ${jwt}` }, body });
  const kidOf = async () => String((await signer.jwks()).keys[0]?.['kid']);

  it.each<[string, () => Promise<WebhookRequest>]>([
    ['nothing signed', async () => ({ headers: {}, body })],
    ['no token', async () => bearer('')],
    ['noise', async () => bearer('a.b.c')],
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
      'another key under the same name',
      async () => {
        const header = { alg: 'ES256', kid: await kidOf() };
        return bearer(
          await new SignJWT(claims)
            .setProtectedHeader(header)
            .setIssuedAt(at / 1_000)
            .sign(stranger),
        );
      },
    ],
    [
      'another key under another name',
      async () => {
        const header = { alg: 'ES256', kid: 'x' };
        return bearer(
          await new SignJWT(claims)
            .setProtectedHeader(header)
            .setIssuedAt(at / 1_000)
            .sign(stranger),
        );
      },
    ],
    ['something old', () => signed({ at: at - 311_000 })],
    ['something of tomorrow', () => signed({ at: at + 86_400_000 })],
    ['another body', async () => ({ ...(await signed()), body: body.replace('SUBMITTED', 'COMPLETED') })],
    ['the body with a space more', async () => ({ ...(await signed()), body: `${body} ` })],
    ['what was meant for another', () => signed({ url: 'https://evil.example/a2a' })],
    ['what was meant for another path', () => signed({ url: 'https://hooks.example/b' })],
    [
      'another name for the same',
      async () => ({
        ...(await signed()),
        headers: { ...(await signed()).headers, 'x-a2a-delivery-id': 'n' },
      }),
    ],
  ])('refuses %s', async (_what, make) => {
    const { receive } = await receiver();
    expect(await receive(await make())).toMatchObject({ ok: false, status: 401 });
  });

  it('fetches the keys once, and again when the sender has new ones, but not too often', async () => {
    let now = at;
    let asked = 0;
    let current = signer;
    const { receive } = pushReceiver({
      keys: 'https://agent.example/.well-known/jwks.json',
      now: () => now,
      fetch: async () => {
        asked++;
        return { ok: true, json: () => current.jwks() };
      },
    });
    for (let n = 0; n < 3; n++) expect(await receive(await signed())).toMatchObject({ ok: true });
    expect(asked).toBe(1);
    current = pushSigner({ algorithm: 'ES256' });
    const fresh = async () => bearer(await current.sign({ id: 'n', url, body, at: now }));
    for (let n = 0; n < 3; n++) expect(await receive(await fresh())).toMatchObject({ status: 401 });
    expect(asked).toBe(1);
    now += 30_000;
    expect(await receive(await fresh())).toMatchObject({ ok: true });
    expect(asked).toBe(2);
  });

  it('asks to come again when the keys cannot be fetched', async () => {
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

describe('a signer', () => {
  it.each<[string, Parameters<typeof pushSigner>[0]]>([
    ['noise', { key: 'noise' }],
    ['a short key', { key: pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey) }],
    ['another curve', { key: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey) }],
    ['another kind', { key: pemOf(generateKeyPairSync('ed25519').privateKey) }],
    ['half a key', { key: { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' } }],
  ])('takes no %s', async (_what, options) => {
    await expect(pushSigner(options).jwks()).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      violations: [{ field: 'key' }],
    });
  });

  it('makes a key once, RSA unless told', async () => {
    const made = pushSigner();
    expect(await made.jwks()).toEqual(await made.jwks());
    expect((await made.jwks()).keys).toMatchObject([{ kty: 'RSA', alg: 'RS256' }]);
  });
});

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
