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

/** Registers a cleanup function. */
export type OnClose = (close: () => unknown) => void;

/** Starts an agent with scripted responses. */
export async function raw(onClose: OnClose, script: AgentScript): Promise<RawServer> {
  const server = await startScriptedAgent(script);
  onClose(() => server.close());
  return server;
}

/** Starts an agent in this process that records its requests. */
export async function recording(onClose: OnClose, options: ServeOptions = {}) {
  const requests: { request: SendRequest; headers: any }[] = [];
  const inner = defineAgent({
    name: 'Recorder',
    description: 'Records requests',
    process: ({ text }) => `received ${text}`,
  });
  const wrapped = {
    ...Object.fromEntries(Object.entries(inner)),
    ...(Object.fromEntries(
      ['card', 'extendedCard', 'getTask', 'listTasks', 'cancelTask', 'subscribe', 'close', 'ready'].map(
        (name) => [name, (...args: unknown[]) => (inner as any)[name](...args)],
      ),
    ) as any),
    send: (request: SendRequest, call: any) => (
      requests.push({ request, headers: call?.headers }), inner.send(request, call)
    ),
    stream: (request: SendRequest, call: any) => (
      requests.push({ request, headers: call?.headers }), inner.stream(request, call)
    ),
  };
  const server = await serve(wrapped, options);
  onClose(() => server.stop(100));
  return { url: server.url, requests };
}

/** Starts an authorization server that approves at the second poll. */
export async function authorizationServer(onClose: OnClose): Promise<RawServer> {
  let polls = 0;
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
        verification_uri: `${url}/approve`,
        interval: 0,
        expires_in: 60,
      });
    else if (form.get('grant_type')?.endsWith('device_code') && polls++ === 0)
      respondJson(response, { error: 'authorization_pending' }, 400);
    else if (form.get('grant_type') === 'client_credentials' && !request.headers.authorization)
      respondJson(response, { error: 'invalid_client' }, 401);
    else respondJson(response, { access_token: 'oauth-token-1', refresh_token: 'r1', expires_in: 3600 });
  });
  onClose(() => server.close());
  return server;
}

/** Starts an agent that requires a token of the authorization server. */
export function oauthAgent(onClose: OnClose, scheme: object): Promise<RawServer> {
  return raw(onClose, {
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
                message: 'unauthenticated',
                data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'UNAUTHENTICATED' }],
              },
            },
    },
  });
}

/** Starts a 1.0 agent with TLS, optionally with client certificates. */
export async function tlsAgent(onClose: OnClose, isMutual = false) {
  const authority = createAuthority('cli');
  let url = '';
  const server: Server = createServer(
    { ...authority.server, ca: authority.ca, requestCert: isMutual, rejectUnauthorized: isMutual },
    (request, response) => {
      request.resume().on('end', () => {
        if (request.method === 'GET') respondJson(response, card1_0At(url));
        else respondJson(response, { jsonrpc: '2.0', id: 1, result: { task: wireTask1_0('COMPLETED') } });
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onClose(() => server.close());
  return { url, ca: authority.ca, client: authority.client('alice') };
}
