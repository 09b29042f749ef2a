import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { runDragoman } from '../../support/cli/run-command.ts';
import { artifactTexts, statusTextOf, userRequest } from '../../support/engine/conversation.ts';
import { startWaitingTask, useLeaseAgents } from '../../support/store/lease-agents.ts';

const agents = useLeaseAgents();

it('serve --store rejects a second process and takes over the lease after SIGKILL of the first', async () => {
  const file = agents.newFile();
  const first = await agents.start(file);
  const id = await startWaitingTask(first.agent);

  const second = await runDragoman(['serve', agents.module, '--port', '0', '--store', `sqlite:${file}`])
    .ended;
  expect(second.stderr).toMatch(
    new RegExp(
      `^error: ${file} is in use by process ${first.process.pid} on ${hostname()} since 20.*Z\n` +
        'hint: Stop that process, use another file, or open the file with shared: true in all processes\\. To share the file between processes, use --store sqlite:[^ ]+\\?shared\\.\n$',
    ),
  );
  expect(second.code).toBe(2);

  await first.agent.send(userRequest('go'));
  for await (const _event of first.agent.subscribe({ id, afterSequence: 0 }));
  const task = await first.agent.getTask({ id });
  expect(task.status.state).toBe('completed');
  expect(artifactTexts(task)).toEqual(['done']);
  await first.stop('SIGKILL');

  const third = await agents.start(file);
  expect((await third.agent.getTask({ id })).status.state).toBe('completed');
  const unfinished = await startWaitingTask(third.agent);
  await third.stop('SIGKILL');

  const fourth = await agents.start(file);
  const ended = await fourth.agent.getTask({ id: unfinished });
  expect(ended.status.state).toBe('failed');
  expect(statusTextOf(ended)).toMatch(/restarted/);
});
