// A crash in the middle of a stream: once, which a caller should get over, and for good, which it should tell.
import { connect } from 'dragoman';
import { agentTest } from 'dragoman/testkit/vitest';
import { expect, onTestFinished } from 'vitest';
import { say } from './say.js';

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

test('a connection that broke is taken up where it was', async ({ agent }) => {
  const problems = [];
  const client = connect(agent.url, { onWarning: ({ kind }) => problems.push(kind) });
  onTestFinished(() => client.close());

  await expect(client.stream(say('shaky'))).toHaveStreamed([
    'submitted',
    { state: 'working', text: 'one' },
    { state: 'working', text: 'two' },
    { state: 'completed', text: 'three' },
  ]);
  expect(problems).toEqual(['resume']);
  expect(agent.journal.entries({ operation: 'stream' })[0].response.end).toBe('aborted');
  expect(agent).toHaveReceivedMessage({ count: 1 });
});

test('a caller that does not try again hears of the break', async ({ agent }) => {
  const client = connect(agent.url, { resumes: 0 });
  onTestFinished(() => client.close());

  await expect(client.stream(say('broken'))).toHaveStreamed([
    'submitted',
    'working',
    { error: 'UNAVAILABLE' },
  ]);
});
