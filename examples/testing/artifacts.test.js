// Files in both directions: one is sent to the agent, two are returned.
import { connect, rawPart } from 'dragoman';
import { agentTest } from 'dragoman/testkit/vitest';
import { expect, onTestFinished } from 'vitest';

const script = `
rules:
  - name: summarizes tables
    when: { file: { media_type: text/csv } }
    then:
      - artifact: { name: 'summary of {{message.file.name}}', data: { rows: 2, mean: 1.5 } }
      - artifact: { name: chart.svg, text: '<svg/>', media_type: image/svg+xml }
otherwise:
  then: [{ reject: I only read tables }]
`;
const test = agentTest.extend({ agentOptions: { script } });

test('returns a summary and a chart for a table', async ({ agent }) => {
  const client = connect(agent.url);
  onTestFinished(() => client.close());
  const table = rawPart(Buffer.from('a\n1\n2\n'), { filename: 'numbers.csv', mediaType: 'text/csv' });
  const task = await client.send({ text: 'Sum this up', parts: [table] });

  expect(task).toProduceArtifact('summary of numbers.csv', { rows: 2 });
  expect(task).toProduceArtifact('chart.svg', '<svg/>');
  expect(task).not.toProduceArtifact(/pdf$/);
  expect(agent).toHaveReceivedMessage({
    parts: [{ text: /Sum/ }, { filename: 'numbers.csv', raw: table.raw }],
  });
});
