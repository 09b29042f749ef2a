import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'sdk-1.3/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import {
  apiKey as withKey,
  bearer as withToken,
  clientCredentials,
  type Credentials,
} from '../../src/client/credentials.ts';
import type { LocalAgent } from '../../src/engine/index.ts';
import type { ProtocolVersion, Transport } from '../../src/protocol/card.ts';
import { apiKeyAuth } from '../../src/server/auth/schemes/api-key.ts';
import { jwtAuth } from '../../src/server/auth/schemes/jwt.ts';
import { type RunningServer, serve } from '../../src/server/index.ts';
import {
  collectStream,
  reasonOf,
  userRequest as says,
  statesOf,
  expectTask,
} from '../support/engine/conversation.ts';
import { type TokenIssuer, createTokenIssuer } from '../support/server/token-issuer.ts';
import { sampleAgent } from './sample-agent.ts';
import { collect, say } from './sdk-1.3-messages.ts';

let agent: LocalAgent;
let server: RunningServer;
let maker: TokenIssuer;
let expired: string;

beforeAll(async () => {
  agent = sampleAgent();
  maker = await createTokenIssuer();
  expired = await maker.token({ exp: 1 });
  server = await serve(agent, {
    auth: {
      authenticators: [
        jwtAuth({ issuer: maker.url, audience: 'agent', jwks: { keys: [maker.publicKey] } }),
        apiKeyAuth({ in: 'header', name: 'X-Agent-Key', keys: { 'key of ann': 'ann' }, scheme: 'inHeader' }),
        apiKeyAuth({ in: 'query', name: 'agent_key', keys: { 'key of bob': 'bob' }, scheme: 'inQuery' }),
        apiKeyAuth({ in: 'cookie', name: 'agentKey', keys: { 'key-of-cat': 'cat' }, scheme: 'inCookie' }),
      ],
    },
  });
});
afterAll(async () => {
  await server.stop(100);
  await agent.close();
});

/** Tokens of which the first is too old. */
function renewed(): { tokens: string[]; next: () => Promise<string> } {
  const tokens = [expired];
  return {
    tokens,
    next: async () => {
      const token = await maker.token();
      tokens.push(token);
      return token;
    },
  };
}

describe.each([
  { transport: 'JSONRPC', factory: JsonRpcTransportFactory },
  { transport: 'HTTP+JSON', factory: RestTransportFactory },
])('official 1.0 client over $transport with auth', ({ transport, factory }) => {
  const make = (fetchImpl: typeof fetch): Promise<any> =>
    new ClientFactory({
      transports: [new factory({ fetchImpl })],
      preferredTransports: [transport],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetch }),
    }).createFromUrl(server.url);

  it('requests a new token after a 401 response and succeeds', async () => {
    const { tokens, next } = renewed();
    const handler = {
      headers: async () => ({ authorization: `Bearer ${tokens.at(-1)}` }),
      shouldRetryWithHeaders: async (_request: RequestInit, response: Response) =>
        response.status === 401 && response.headers.get('www-authenticate')?.includes('error="invalid_token"')
          ? { authorization: `Bearer ${await next()}` }
          : undefined,
    };
    const client = await make(createAuthenticatingFetchWithRetry(fetch, handler));
    const task = await client.sendMessage(say('hello'));
    expect(task.artifacts[0].parts[0].content.value).toBe('hello');
    expect(tokens).toHaveLength(2);
    const events = await collect(client.sendMessageStream(say('stream')));
    expect(events).toHaveLength(8);
    expect(await client.getTask({ tenant: '', id: task.id })).toMatchObject({ id: task.id });
    expect((await client.getAgentCard()).name).toBe('Sample extended');
    expect(tokens).toHaveLength(2);
  });

  it('receives 401 without a token', async () => {
    const client = await make(fetch);
    await expect(client.sendMessage(say('hello'))).rejects.toThrow(/Authentication required|401/);
    await expect(collect(client.sendMessageStream(say('stream')))).rejects.toThrow();
  });
});

const ways: { name: string; auth: () => Credentials }[] = [
  { name: 'a token that has to be renewed', auth: renewing },
  {
    name: 'a key in a header',
    auth: () => withKey({ in: 'header', name: 'X-Agent-Key', value: 'key of ann' }),
  },
  {
    name: 'a key in the query',
    auth: () => withKey({ in: 'query', name: 'agent_key', value: 'key of bob' }),
  },
  { name: 'a key in a cookie', auth: () => withKey({ in: 'cookie', name: 'agentKey', value: 'key-of-cat' }) },
];
const routes: { version: ProtocolVersion; transport: Transport }[] = [
  { version: '1.0', transport: 'JSONRPC' },
  { version: '1.0', transport: 'HTTP+JSON' },
  { version: '0.3', transport: 'JSONRPC' },
  { version: '0.3', transport: 'HTTP+JSON' },
  { version: '0.1', transport: 'JSONRPC' },
];

function renewing(): Credentials {
  const { tokens, next } = renewed();
  let isFirst = true;
  return withToken(async () => {
    if (isFirst) {
      isFirst = false;
      return tokens[0] ?? '';
    }
    return tokens[1] ?? next();
  });
}

describe.each(routes)('Dragoman client, $version over $transport', ({ version, transport }) => {
  it.each(ways)('authenticates with $name', async ({ auth }) => {
    const remote = connect(server.url, { auth: auth(), versions: [version], transports: [transport] });
    try {
      const task = expectTask(await remote.send(says('hello')));
      expect(task.status.state).toBe('completed');
      expect(statesOf(await collectStream(remote.stream(says('stream')))).at(-1)).toBe('completed');
      expect((await remote.getTask({ id: task.id })).id).toBe(task.id);
      expect(await reasonOf(remote.getTask({ id: 'nobody-has-this' }))).toBe('TASK_NOT_FOUND');
    } finally {
      await remote.close?.();
    }
  });

  it('rejects with UNAUTHENTICATED for missing or invalid credentials', async () => {
    for (const auth of [undefined, withToken('wrong'), withToken(expired)]) {
      const remote = connect(server.url, {
        ...(auth && { auth }),
        versions: [version],
        transports: [transport],
      });
      expect(await reasonOf(remote.send(says('hello')))).toBe('UNAUTHENTICATED');
      expect(await reasonOf(collectStream(remote.stream(says('stream'))))).toBe('UNAUTHENTICATED');
      await remote.close?.();
    }
  });
});

it('Dragoman client requests tokens with client credentials', async () => {
  const authorization = createServer((request, response) => {
    let form = '';
    request.on('data', (chunk: Buffer) => (form += chunk.toString()));
    request.on('end', () => {
      void maker.token({ sub: 'robot' }).then((token) => {
        expect(form).toContain('grant_type=client_credentials');
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ access_token: token, expires_in: 60, token_type: 'Bearer' }));
      });
    });
  });
  await new Promise<void>((resolve) => {
    authorization.listen(0, '127.0.0.1', resolve);
  });
  const tokenUrl = `http://127.0.0.1:${(authorization.address() as AddressInfo).port}/token`;
  const auth = clientCredentials({ tokenUrl, clientId: 'robot', clientSecret: 'r2' });
  const remote = connect(server.url, { auth });
  try {
    expect(expectTask(await remote.send(says('hello'))).status.state).toBe('completed');
  } finally {
    await remote.close?.();
    authorization.closeAllConnections();
    authorization.close();
  }
});
