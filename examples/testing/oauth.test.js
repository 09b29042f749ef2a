// OAuth: a rejected token is replaced by a new one, and the message is received once.
import { createServer } from 'node:http';
import { clientCredentials, connect } from 'dragoman';
import { agentTest } from 'dragoman/testkit/vitest';
import { expect, onTestFinished } from 'vitest';

/** Starts a token endpoint that returns token-1, token-2 and so on. */
async function tokenEndpoint() {
  let issued = 0;
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({ access_token: `token-${++issued}`, token_type: 'Bearer', expires_in: 3600 }),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close());
  return { tokenUrl: `http://127.0.0.1:${server.address().port}/token`, issued: () => issued };
}

agentTest('requests a new token after a 401 response', async ({ agent }) => {
  agent.requireAuth({ type: 'bearer', expectedValue: 'token-2' });
  agent.prime([{ kind: 'task', status: { state: 'completed' } }]);
  const { tokenUrl, issued } = await tokenEndpoint();
  const auth = clientCredentials({ tokenUrl, clientId: 'client-1', clientSecret: 'secret' });
  const client = connect(agent.url, { auth });
  onTestFinished(() => client.close());

  const task = await client.send('hello');
  expect(task.status.state).toBe('completed');
  expect(issued()).toBe(2);
  expect(agent).toHaveReceivedMessage({
    text: 'hello',
    headers: { authorization: 'Bearer token-2' },
    count: 1,
  });
  const rejected = agent.requests({ responseOrigin: 'auth-validation' });
  expect(rejected.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1']);
});
