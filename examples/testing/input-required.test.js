// The agent requests input, and the reply continues the task. The script is a file.
import { fileURLToPath } from 'node:url';
import { connect, textOf } from 'dragoman';
import { agentTest } from 'dragoman/testkit/vitest';
import { expect, onTestFinished } from 'vitest';

const scriptFile = fileURLToPath(new URL('../scripts/travel.yaml', import.meta.url));
const test = agentTest.extend({ agentOptions: { scriptFile } });

test('books a journey in two turns', async ({ agent }) => {
  const client = connect(agent.url);
  onTestFinished(() => client.close());
  const asking = await client.send('Book Lisbon');
  expect(asking.status.state).toBe('input-required');
  expect(textOf(asking.status.message.parts)).toBe('Which day?');

  const { id: taskId, contextId } = asking;
  const booked = await client.send({ text: 'Friday', taskId, contextId });
  expect(booked.status.state).toBe('completed');
  expect(booked).toProduceArtifact('ticket.json', { to: 'Lisbon', day: 'Friday' });
  expect(agent).toHaveReceivedMessage({ text: 'Friday', taskId });
});

test('lists the closest rules if no rule matched', async ({ agent }) => {
  const client = connect(agent.url);
  onTestFinished(() => client.close());
  const task = await client.send('Cook Lisbon');
  expect(task.status.state).toBe('rejected');

  const [entry] = agent.receivedMessages;
  expect(entry.nearMisses[0].mismatches[0]).toContain('was "Cook Lisbon"');
});
