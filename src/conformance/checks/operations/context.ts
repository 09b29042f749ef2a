import { defineChecks } from '../../check.ts';
import { describeResponse } from '../../drivers/describe-response.ts';

/** Contexts and turns: section 3.4. */
export const contextChecks = defineChecks([
  {
    id: 'context.made',
    requirements: ['CTX-001', 'CTX-002'],
    section: '3.4.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A message without a context gets one, and the answer names it.',
    remedy: 'Make a contextId, and put it into the task.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const task = await probe.sendPrompt('completed');
      probe.expect(typeof task.contextId === 'string' && task.contextId !== '', 'The task names no context');
      const other = await probe.sendPrompt('completed');
      probe.expect(task.contextId !== other.contextId, 'Two conversations got the same context', {
        actual: task.contextId ?? '',
      });
    },
  },
  {
    id: 'context.kept',
    requirements: ['CTX-003', 'CTX-004', 'CTX-005', 'CTX-008'],
    section: '3.4.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A context that the caller chose is used or refused, never replaced.',
    remedy: 'Use the contextId of the message; refuse it with an error if you cannot.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const first = await probe.sendPrompt('completed');
      const response = await probe.call('send', {
        message: { ...probe.context.prompts.promptFor('completed'), contextId: first.contextId ?? '' },
      });
      const task = probe.driver.decodeTask(response.result);
      probe.expect(
        task !== undefined,
        `A second task in a known context was refused: ${describeResponse(response)}`,
      );
      probe.expect(task?.contextId === first.contextId, 'The context of the message was replaced', {
        expected: first.contextId ?? '',
        actual: task?.contextId ?? '',
      });
      probe.expect(task?.id !== first.id, 'The second message went to the first task');
    },
  },
  {
    id: 'turn.goes-on',
    requirements: ['ERR-024', 'TURN-004'],
    section: '3.4.3',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A task that waits for input goes on with the next message, which need not name the context.',
    remedy: 'Find the context by the task.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      const result = await probe.expectResult('send', {
        message: { text: 'the first one', taskId: task.id },
      });
      const answered = probe.driver.decodeTask(result);
      probe.expect(answered?.id === task.id, 'The answer went to another task', {
        expected: task.id,
        actual: answered?.id ?? 'none',
      });
      probe.expect(answered?.contextId === task.contextId, 'The task changed its context', {
        expected: task.contextId ?? '',
        actual: answered?.contextId ?? '',
      });
      const rested = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expect(rested.state !== 'failed', 'The task failed although it got what it asked for', {
        actual: rested.state,
      });
    },
  },
  {
    id: 'turn.question',
    requirements: ['INTASK-003', 'MODEL-003'],
    section: '4.1.3',
    level: 'SHOULD',
    category: 'lifecycle',
    sentence: 'A task that waits for input says what for.',
    remedy: 'Put the question into the message of the status.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      probe.expect((task.statusParts ?? []).length > 0, 'The status has no message');
    },
  },
  {
    id: 'turn.mismatch',
    requirements: ['TURN-005'],
    section: '3.4.3',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message whose task belongs to another context than it says is refused.',
    remedy: 'Answer -32602 (HTTP 400), and leave the task alone.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      const message = { text: 'go on', taskId: task.id, contextId: crypto.randomUUID() };
      const response = await probe.call('send', { message });
      probe.expect(response.error !== undefined, 'A message with the wrong context was taken', {
        expected: 'an error',
        actual: describeResponse(response),
      });
      const after = await probe.getTask(task.id);
      probe.expect(after.state === 'input-required', 'The refused message changed the task', {
        actual: after.state,
      });
    },
  },
  {
    id: 'turn.history',
    requirements: ['MSG-005'],
    section: '3.7',
    level: 'MAY',
    category: 'lifecycle',
    sentence: 'What history there is, is what was said, each once and in order.',
    remedy: 'Keep messages once, in the order in which they came.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      await probe.expectResult('send', {
        message: { text: 'the answer', messageId: crypto.randomUUID(), taskId: task.id },
      });
      const { history = [] } = await probe.waitUntilTerminalOrInterrupted(task.id);
      const ids = history
        .map((each) => (each as { messageId?: string }).messageId)
        .filter((id) => id !== undefined);
      probe.expect(new Set(ids).size === ids.length, 'A message is in the history twice', {
        actual: ids.join(', '),
      });
    },
  },
]);
