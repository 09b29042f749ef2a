// OAuth: a token that is refused is replaced by a new one, and the message arrives once.
import { createServer } from 'node:http';
import { clientCredentials, connect } from 'dragoman';
import { agentTest } from 'dragoman/testkit/vitest';
import { expect, onTestFinished } from 'vitest';
import { say } from './say.js';

/** Gives token-1, token-2 and so on to whoever asks. */
async function tokenEndpoint() {
  let given = 0;
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({ access_token: `token-${++given}`, token_type: 'Bearer', expires_in: 3600 }),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close());
  return { tokenUrl: `http://127.0.0.1:${server.address().port}/token`, given: () => given };
}

agentTest('a token that is refused is replaced', async ({ agent }) => {
  agent.requireAuth({ type: 'bearer', expectedValue: 'token-2' });
  agent.prime([{ kind: 'task', status: { state: 'completed' } }]);
  const { tokenUrl, given } = await tokenEndpoint();
  const auth = clientCredentials({ tokenUrl, clientId: 'desk', clientSecret: 'secret' });
  const client = connect(agent.url, { auth });
  onTestFinished(() => client.close());

  const task = await client.send(say('hello'));
  expect(task.status.state).toBe('completed');
  expect(given()).toBe(2);
  expect(agent).toHaveReceivedMessage({
    text: 'hello',
    headers: { authorization: 'Bearer token-2' },
    count: 1,
  });
  const refused = agent.requests({ responseOrigin: 'auth-validation' });
  expect(refused.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1']);
});
