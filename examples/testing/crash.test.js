// Disconnects during a stream: a client should recover from a single one and report a permanent one.
import { connect } from 'dragoman';
import { agentTest } from 'dragoman/testkit/vitest';
import { expect, onTestFinished } from 'vitest';

const script = `
clock: virtual
rules:
  - name: crashes once
    when: { text: shaky }
    fault: { disconnect: { after: 2 }, times: 1 }
    then: [{ say: one }, { say: two }, { complete: three }]
  - name: never ends
    when: { text: broken }
    fault: { disconnect: { after: 2 } }
    then: [{ say: one }, { say: two }, { complete: three }]
`;
const test = agentTest.extend({ agentOptions: { script } });

test('resumes a stream after a disconnect', async ({ agent }) => {
  const warnings = [];
  const client = connect(agent.url, { onWarning: ({ kind }) => warnings.push(kind) });
  onTestFinished(() => client.close());

  await expect(client.stream('shaky')).toHaveStreamed([
    'submitted',
    { state: 'working', text: 'one' },
    { state: 'working', text: 'two' },
    { state: 'completed', text: 'three' },
  ]);
  expect(warnings).toEqual(['resume']);
  expect(agent.journal.entries({ operation: 'stream' })[0].response.end).toBe('aborted');
  expect(agent).toHaveReceivedMessage({ count: 1 });
});

test('reports a disconnect if resuming is disabled', async ({ agent }) => {
  const client = connect(agent.url, { maxResumes: 0 });
  onTestFinished(() => client.close());

  await expect(client.stream('broken')).toHaveStreamed(['submitted', 'working', { error: 'UNAVAILABLE' }]);
});
