// The same without vitest: node --test examples/testing/plain.js
import { test } from 'node:test';
import { connect } from 'dragoman';
import { assertReceivedMessage, assertStreamed, withTestAgent } from 'dragoman/testkit';

const script = 'rules: [{ when: { text: hello }, then: [{ say: Let me think }, { complete: Hi }] }]';

await test('responds to a greeting', () =>
  withTestAgent({ script }, async (agent) => {
    const client = connect(agent.url);
    await assertStreamed(client.stream('hello'), [
      'submitted',
      'working',
      { state: 'completed', text: 'Hi' },
    ]);
    assertReceivedMessage(agent, { text: 'hello', count: 1 });
    await client.close();
  }));
