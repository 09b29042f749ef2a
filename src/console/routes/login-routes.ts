import { findLoginGrant } from '../../client/oauth/login-grant.ts';
import { logIn } from '../../client/oauth/log-in.ts';
import { loginCredentials } from '../../client/oauth/oauth-token.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { ApiRoutes } from '../api-routes.ts';
import type { LoginEvent } from '../console-api.ts';
import { loginInputSchema, parseRequestBody } from './request-schemas.ts';

/** Routes of the login. The token stays in memory, as all credentials of the console. */
export function loginRoutes(agents: AgentRegistry): ApiRoutes {
  return {
    'POST agents/{}/login': async ({ body }, id = '') => {
      const { flow, clientId, clientSecret, scope } = parseRequestBody(loginInputSchema, body);
      const agent = agents.get(id);
      return {
        stream: async (stream) => {
          const send = (event: LoginEvent): Promise<boolean> => stream.send(event);
          const card = await agent.card();
          const token = await logIn(await findLoginGrant(card, { flow }), {
            clientId,
            clientSecret,
            scope,
            signal: stream.signal,
            prompt: (prompt) => void send({ kind: 'prompt', ...prompt }),
          });
          // The origin that the user entered, and no other that the card names.
          await agents.setCredentials(id, loginCredentials(token, [new URL(agent.info.url).origin]));
          await send({ kind: 'done' });
        },
      };
    },
  };
}
