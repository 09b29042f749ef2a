// The events of a stream: their content, order and validity.
import { connect } from 'dragoman';
import { agentTest } from 'dragoman/testkit/vitest';
import { expect, onTestFinished } from 'vitest';

const script = `
clock: virtual # ten minutes take no time
rules:
  - name: researches
    when: { text: { contains: dragoman } }
    then:
      - say: Looking it up
      - wait: 10m
      - chunks: { name: notes.txt, parts: [An interpreter, ' and guide.'] }
      - complete: That is all
`;
const test = agentTest.extend({ agentOptions: { script } });

test('streams every step', async ({ agent }) => {
  const client = connect(agent.url);
  onTestFinished(() => client.close());
  const events = [];
  for await (const event of client.stream('What is a dragoman?')) events.push(event);

  expect(events).toBeValidStream();
  expect(events).toHaveStreamed([
    'submitted',
    { state: 'working', text: 'Looking it up' },
    { artifact: 'notes.txt', text: 'An interpreter' },
    { artifact: 'notes.txt', append: true, lastChunk: true },
    { state: 'completed', text: /all$/ },
  ]);
  expect(agent).toHaveReceivedMessage({ text: /dragoman/, count: 1 });
});

test('cancels a task that requests input', async ({ agent }) => {
  const client = connect(agent.url);
  onTestFinished(() => client.close());
  agent.load('rules: [{ then: [{ ask: Go on? }] }]');
  const { id } = await client.send('What is a dragoman?');
  await client.cancelTask({ id });

  expect(agent).toHaveBeenCanceled(id);
});
