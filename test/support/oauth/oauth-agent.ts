import { card1_0At } from '../cli/client-command.ts';
import { type RawServer, respondJson, startRawServer } from '../http/raw-server.ts';
import type { AuthorizationServer } from './authorization-server.ts';

/**
 * Starts an agent that accepts the tokens of an authorization server and says welcome.
 *
 * @param card - members of its card.
 */
export function startOAuthAgent(server: AuthorizationServer, card: object = {}): Promise<RawServer> {
  return startRawServer((request, response, url) => {
    if (request.method === 'GET') {
      const flow = {
        authorizationUrl: `${server.url}/authorize`,
        tokenUrl: `${server.url}/token`,
        scopes: { read: 'Read' },
      };
      const scheme = { oauth2SecurityScheme: { flows: { authorizationCode: flow } } };
      const securityRequirements = [{ schemes: { login: { list: ['read'] } } }];
      const security = { securitySchemes: { login: scheme }, securityRequirements };
      respondJson(response, card1_0At(url, { ...security, ...card }));
      return;
    }
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (!server.accessTokens.has(token)) return respondJson(response, { error: 'no token' }, 401);
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'welcome' }] };
    respondJson(response, { jsonrpc: '2.0', id: (request.json as any).id, result: { message } });
  });
}
