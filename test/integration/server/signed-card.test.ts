import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as sdk from 'sdk-1.3';
import { ClientFactory } from 'sdk-1.3/client';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect, createEndpointCache } from '../../../src/client/index.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import type { A2AError } from '../../../src/protocol/errors.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { signCard, verifyCard } from '../../../src/signing/index.ts';
import { sendRawRequest } from '../../support/http/raw-http.ts';
import { createKeyPair, type KeyPair } from '../../support/signing/signed-card.ts';
import { httpGet, callRpc } from '../../support/http/http-calls.ts';

const path = '/.well-known/agent-card.json';
const modern = { 'a2a-version': '1.0' };

let pair: KeyPair;
beforeAll(async () => {
  pair = await createKeyPair('ES256', 'k1');
});

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function served(options: ServeOptions = {}): Promise<{ server: RunningServer; faults: A2AError[] }> {
  const agent = defineAgent({
    name: 'Signed',
    description: 'Has a card that is signed',
    skills: [{ id: 'echo', name: 'Echo', description: 'Echoes', tags: ['demo'] }],
    extendedCard: { name: 'Signed, for friends' },
    process: () => 'hello',
  });
  const faults: A2AError[] = [];
  const server = await serve(agent, {
    signCard: (card) => signCard(card, { key: pair.privateKey, kid: 'k1' }),
    onError: (error) => faults.push(error),
    ...options,
  });
  open.push(
    () => agent.close(),
    () => server.stop(),
  );
  return { server, faults };
}

/** Asks for the card by another name. */
async function getAs(host: string, { port }: RunningServer) {
  const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nA2A-Version: 1.0\r\n\r\n`;
  return JSON.parse((await sendRawRequest(port, Buffer.from(head)))?.body ?? '');
}

const verify = (card: unknown) => verifyCard(card, { keys: { k1: pair.publicKey } });

describe('serve with signCard', () => {
  it('signs the card with its URLs', async () => {
    const { server, faults } = await served();
    const { json } = await httpGet(server.url + path, modern);
    expect(await verify(json)).toMatchObject({ result: 'verified', form: 1 });
    json.supportedInterfaces[0].url = 'https://evil.example';
    expect(await verify(json)).toMatchObject({ result: 'invalid' });
    expect(faults).toEqual([]);
  });

  it('signs the card of clients that name no version', async () => {
    const { server } = await served();
    const { json } = await httpGet(server.url + path);
    expect(json).toMatchObject({ url: server.url, protocolVersion: '0.3.0' });
    const { result, card } = await verify(json);
    expect(result).toBe('verified');
    // The signature does not cover the members of 0.3.
    expect(card).not.toHaveProperty('url');
    await sdk.verifyAgentCardSignature(() => Promise.resolve(pair.publicKey))(sdk.AgentCard.fromJSON(json));
    json.supportedInterfaces[0].url = 'https://evil.example';
    expect(await verify(json)).toMatchObject({ result: 'invalid' });
  });

  it('signs once and caches the text with its ETag', async () => {
    const sign = vi.fn((card: { [member: string]: unknown }) =>
      signCard(card, { key: pair.privateKey, kid: 'k1' }),
    );
    const { server } = await served({ signCard: sign });
    const answers = await Promise.all([1, 2, 3].map(() => httpGet(server.url + path, modern)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const etag = answers[0]?.headers.get('etag') ?? '';
    expect((await httpGet(server.url + path, { ...modern, 'if-none-match': etag })).status).toBe(304);
    expect(sign).toHaveBeenCalledTimes(1);
  });

  it('does not sign cards of earlier versions', async () => {
    const { server } = await served();
    for (const headers of [{ 'a2a-version': '0.3' }, { 'a2a-version': '0.1' }])
      expect((await httpGet(server.url + path, headers)).json).not.toHaveProperty('signatures');
  });

  it('signs the extended card over both transports', async () => {
    const { server } = await served();
    const called = await callRpc(server.url, 'GetExtendedAgentCard', {}, '1.0');
    const fetched = await httpGet(`${server.url}/extendedAgentCard`, modern);
    for (const card of [called.result, fetched.json]) {
      expect(card.name).toBe('Signed, for friends');
      expect(await verify(card)).toMatchObject({ result: 'verified' });
    }
    const tagged = await callRpc(server.url, 'agent/getAuthenticatedExtendedCard', undefined);
    expect(tagged.result).not.toHaveProperty('signatures');
  });

  it('does not sign a URL from the Host header', async () => {
    const { server, faults } = await served({ allowedHosts: ['evil.example'] });
    const json = await getAs('evil.example', server);
    expect(json.supportedInterfaces[0].url).toBe('http://evil.example');
    expect(json).not.toHaveProperty('signatures');
    expect(faults).toMatchObject([{ reason: 'INTERNAL_ERROR', hint: expect.stringContaining('publicUrl') }]);
  });

  it('signs publicUrl regardless of the Host header', async () => {
    const { server } = await served({
      publicUrl: 'https://agent.example',
      allowedHosts: ['evil.example'],
    });
    const json = await getAs('evil.example', server);
    expect(json.supportedInterfaces[0].url).toBe('https://agent.example');
    expect(await verify(json)).toMatchObject({ result: 'verified' });
  });

  it.each<[string, ServeOptions['signCard']]>([
    ['fails', () => Promise.reject(new Error('no key today'))],
    [
      'throws',
      () => {
        throw new Error('no key today');
      },
    ],
    ['forgets the signature', (card) => card],
  ])('serves the card without a signature if signing %s, and retries', async (_how, broken) => {
    let times = 0;
    const { server, faults } = await served({
      signCard: (card) =>
        times++ === 0
          ? (broken as NonNullable<typeof broken>)(card)
          : signCard(card, { key: pair.privateKey, kid: 'k1' }),
    });
    const first = await httpGet(server.url + path, modern);
    expect(first.status).toBe(200);
    expect(first.json).not.toHaveProperty('signatures');
    expect(first.headers.get('cache-control')).toContain('max-age=0');
    expect(first.text).not.toContain('no key today');
    expect(faults).toMatchObject([{ reason: 'INTERNAL_ERROR' }]);
    expect(await verify((await httpGet(server.url + path, modern)).json)).toMatchObject({
      result: 'verified',
    });
  });

  it('creates signatures that the official SDK verifies', async () => {
    const { server } = await served();
    const check = vi.fn(
      sdk.verifyAgentCardSignature(() => Promise.resolve(pair.publicKey)) as (
        card: sdk.AgentCard,
      ) => Promise<void>,
    );
    const client = await new ClientFactory().createFromUrl(server.url);
    expect(await client.getAgentCard(undefined, check)).toMatchObject({ name: 'Signed, for friends' });
    expect(check).toHaveBeenCalledTimes(1);
    const other = await createKeyPair('ES256', 'k1');
    const wrong = sdk.verifyAgentCardSignature(() => Promise.resolve(other.publicKey));
    vi.spyOn(console, 'debug').mockImplementation(() => {});
    await expect(client.getAgentCard(undefined, wrong)).rejects.toThrow();
    vi.restoreAllMocks();
  });
});

describe('connect with verifyCard', () => {
  const keys = () => ({ keys: { k1: pair.publicKey } });
  const reach = (url: string, options: Parameters<typeof connect>[1] = {}) => {
    const remote = connect(url, {
      endpointCache: createEndpointCache(),
      verifyCard: (card) => verifyCard(card, keys()),
      ...options,
    });
    open.push(() => remote.close());
    return remote;
  };
  const unsigned = { signCard: undefined };

  it('accepts a card with a valid signature', async () => {
    const { server } = await served();
    const remote = reach(server.url);
    expect(await remote.card()).toMatchObject({ name: 'Signed' });
    expect(await remote.describe()).toMatchObject({ verification: { result: 'verified', kid: 'k1' } });
  });

  it('rejects a card without a signature unless requireVerified is false', async () => {
    const { server } = await served(unsigned);
    await expect(reach(server.url).card()).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      hint: expect.stringContaining('requireVerified: false'),
    });
    const problems: string[] = [];
    const remote = reach(server.url, {
      requireVerified: false,
      onWarning: ({ kind }) => problems.push(kind),
    });
    expect(await remote.card()).toMatchObject({ name: 'Signed' });
    expect(await remote.describe()).toMatchObject({ verification: { result: 'absent' } });
    expect(problems).toEqual(['unverified']);
  });

  it('rejects a card with an invalid signature', async () => {
    const { server } = await served({
      signCard: async (card) => {
        const signed = await signCard(card, { key: pair.privateKey, kid: 'k1' });
        return {
          signatures: (signed.signatures as { signature: string }[]).map((each) => ({
            ...each,
            signature: each.signature.replace(/^../, 'AA'),
          })),
        };
      },
    });
    for (const requireVerified of [true, false])
      await expect(reach(server.url, { requireVerified }).card()).rejects.toMatchObject({
        reason: 'PERMISSION_DENIED',
        details: { result: 'invalid' },
      });
  });

  it('uses only the signed content of the card', async () => {
    const { server } = await served();
    const remote = reach(server.url, {
      verifyCard: (card) => ({ result: 'verified', reason: 'because', card: { ...card, name: 'Proved' } }),
    });
    expect(await remote.card()).toMatchObject({ name: 'Proved' });
  });

  it('rejects an agent without a card', async () => {
    const bare = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
    open.push(() => new Promise((resolve) => bare.close(resolve)));
    const remote = reach(`http://127.0.0.1:${(bare.address() as AddressInfo).port}`);
    await expect(remote.card()).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
  });

  it('rejects requireVerified without verifyCard', () => {
    expect(() => connect('http://127.0.0.1', { requireVerified: true })).toThrow(/requireVerified/);
  });

  it('fetches keys that the egress policy allows, without redirects and credentials', async () => {
    const seen: string[] = [];
    const holder = createServer(({ url = '', headers }, response) => {
      seen.push(`${url} ${headers.authorization ?? 'none'}`);
      if (url === '/moved') response.writeHead(302, { location: '/jwks' }).end();
      else response.end(JSON.stringify({ keys: [pair.publicKey] }));
    });
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    open.push(() => new Promise((resolve) => holder.close(resolve)));
    const keysAt = `http://127.0.0.1:${(holder.address() as AddressInfo).port}`;
    const { server } = await served();
    const fetched: unknown[] = [];
    const remote = reach(server.url, {
      cardHeaders: { authorization: 'secret' },
      verifyCard: async (_card, { fetchKey }) => {
        for (const jku of [undefined, `${keysAt}/jwks`, `${keysAt}/moved`, 'http://10.0.0.1/jwks'])
          fetched.push(await fetchKey('k1', jku).catch(({ reason }: A2AError) => reason));
        return { result: 'verified', reason: 'seen' };
      },
    });
    await remote.card();
    expect(fetched).toEqual([
      undefined,
      { keys: [pair.publicKey] },
      'INVALID_AGENT_RESPONSE',
      'PERMISSION_DENIED',
    ]);
    expect(seen).toEqual(['/jwks none', '/moved none']);
  });
});
