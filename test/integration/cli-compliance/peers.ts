import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import type { SendRequest } from '../../../src/protocol/requests.ts';
import { type ServeOptions, serve } from '../../../src/server/node/serve.ts';
import { createAuthority } from '../../support/http/certificates.ts';
import {
  card1_0At,
  type AgentScript,
  startScriptedAgent,
  wireTask1_0,
} from '../../support/cli/client-command.ts';
import { respondJson, type RawServer, startRawServer } from '../../support/http/raw-server.ts';

/** Keeps what is to be closed in the end. */
export type Later = (close: () => unknown) => void;

/** An agent that answers byte for byte as it is told. */
export async function raw(later: Later, script: AgentScript): Promise<RawServer> {
  const server = await startScriptedAgent(script);
  later(() => server.close());
  return server;
}

/** An agent in this process, which remembers what it was asked. */
export async function recording(later: Later, options: ServeOptions = {}) {
  const heard: { request: SendRequest; headers: any }[] = [];
  const inner = defineAgent({
    name: 'Recorder',
    description: 'Remembers',
    process: ({ text }) => `heard ${text}`,
  });
  const wrapped = {
    ...Object.fromEntries(Object.entries(inner)),
    ...(Object.fromEntries(
      ['card', 'extendedCard', 'getTask', 'listTasks', 'cancelTask', 'subscribe', 'close', 'ready'].map(
        (name) => [name, (...given: unknown[]) => (inner as any)[name](...given)],
      ),
    ) as any),
    send: (request: SendRequest, call: any) => (
      heard.push({ request, headers: call?.headers }), inner.send(request, call)
    ),
    stream: (request: SendRequest, call: any) => (
      heard.push({ request, headers: call?.headers }), inner.stream(request, call)
    ),
  };
  const server = await serve(wrapped, options);
  later(() => server.stop(100));
  return { url: server.url, heard };
}

/** An authorization server that agrees at the second question. */
export async function authorizationServer(later: Later): Promise<RawServer> {
  let asked = 0;
  const server = await startRawServer((request, response, url) => {
    const form = new URLSearchParams(request.text);
    if (request.path === '/openid')
      respondJson(response, {
        token_endpoint: `${url}/token`,
        device_authorization_endpoint: `${url}/device`,
      });
    else if (request.path === '/device')
      respondJson(response, {
        device_code: 'dc',
        user_code: 'ABCD',
        verification_uri: `${url}/agree`,
        interval: 0,
        expires_in: 60,
      });
    else if (form.get('grant_type')?.endsWith('device_code') && asked++ === 0)
      respondJson(response, { error: 'authorization_pending' }, 400);
    else if (form.get('grant_type') === 'client_credentials' && !request.headers.authorization)
      respondJson(response, { error: 'invalid_client' }, 401);
    else respondJson(response, { access_token: 'oauth-token-1', refresh_token: 'r1', expires_in: 3600 });
  });
  later(() => server.close());
  return server;
}

/** An agent that lets in who has a token of that server. */
export function oauthAgent(later: Later, scheme: object): Promise<RawServer> {
  return raw(later, {
    card: {
      securitySchemes: { login: scheme },
      securityRequirements: [{ schemes: { login: { list: ['a'] } } }],
    },
    on: {
      SendMessage: (_params, { headers }) =>
        headers.authorization === 'Bearer oauth-token-1'
          ? { task: wireTask1_0('COMPLETED') }
          : {
              error: {
                code: -32600,
                message: 'who?',
                data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'UNAUTHENTICATED' }],
              },
            },
    },
  });
}

/** An agent of 1.0 behind TLS, which may want to see a certificate. */
export async function tlsAgent(later: Later, isMutual = false) {
  const made = createAuthority('cli');
  let url = '';
  const server: Server = createServer(
    { ...made.server, ca: made.ca, requestCert: isMutual, rejectUnauthorized: isMutual },
    (request, response) => {
      request.resume().on('end', () => {
        if (request.method === 'GET') respondJson(response, card1_0At(url));
        else respondJson(response, { jsonrpc: '2.0', id: 1, result: { task: wireTask1_0('COMPLETED') } });
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  later(() => server.close());
  return { url, ca: made.ca, client: made.client('alice') };
}
