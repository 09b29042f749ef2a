import { may, must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { describeResponse } from '../../drivers/describe-response.ts';

/** Contexts and multi-turn tasks: section 3.4. */
export const contextChecks = defineChecks({ category: 'lifecycle', versions: ['1.0', '0.3'] }, [
  {
    id: 'context.made',
    ...must('3.4.1', 'CTX-001', 'CTX-002'),
    sentence: 'The agent creates a contextId for a message without one, and returns it.',
    remedy: 'Generate a contextId, and set it in the task.',
    async run(probe) {
      const task = await probe.sendPrompt('completed');
      probe.expect(typeof task.contextId === 'string' && task.contextId !== '', 'The task has no contextId');
      const other = await probe.sendPrompt('completed');
      probe.expectUnique([task.contextId, other.contextId], 'Two conversations have the same contextId');
    },
  },
  {
    id: 'context.kept',
    ...must('3.4.1', 'CTX-003', 'CTX-004', 'CTX-005', 'CTX-008'),
    sentence: 'The agent uses or rejects the contextId of the client; it never replaces it.',
    remedy: 'Use the contextId of the message, or return an error.',
    async run(probe) {
      const first = await probe.sendPrompt('completed');
      const response = await probe.call('send', {
        message: { ...probe.prompts.promptFor('completed'), contextId: first.contextId ?? '' },
      });
      const task = probe.driver.decodeTask(response.result);
      probe.expect(
        task !== undefined,
        `A second task in an existing context was rejected: ${describeResponse(response)}`,
      );
      probe.expectEqual(task?.contextId, first.contextId, 'The agent replaced the contextId of the message');
      probe.expect(task?.id !== first.id, 'The second message continued the first task');
    },
  },
  {
    id: 'turn.goes-on',
    ...must('3.4.3', 'ERR-024', 'TURN-004'),
    sentence: 'A task in the state input-required continues with the next message, even without a contextId.',
    remedy: 'Derive the context from the task.',
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      const result = await probe.expectResult('send', {
        message: { text: 'the first one', taskId: task.id },
      });
      const returned = probe.driver.decodeTask(result);
      probe.expectEqual(returned?.id, task.id, 'The message continued another task');
      probe.expectEqual(returned?.contextId, task.contextId, 'The context of the task changed');
      const stopped = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expect(stopped.state !== 'failed', 'The task failed after it received the input', {
        actual: stopped.state,
      });
    },
  },
  {
    id: 'turn.question',
    ...should('4.1.3', 'INTASK-003', 'MODEL-003'),
    sentence: 'A task in the state input-required states which input it needs.',
    remedy: 'Set the question as the status message.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      probe.expect((task.statusParts ?? []).length > 0, 'The status has no message');
    },
  },
  {
    id: 'turn.mismatch',
    ...must('3.4.3', 'TURN-005'),
    category: 'error-handling',
    sentence: 'The agent rejects a message whose contextId does not match its task.',
    remedy: 'Return -32602 (HTTP 400), and do not change the task.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      const message = { text: 'go on', taskId: task.id, contextId: crypto.randomUUID() };
      const response = await probe.call('send', { message });
      probe.expectFailure(response, 'A message with the wrong contextId was accepted');
      const after = await probe.getTask(task.id);
      probe.expectEqual(after.state, 'input-required', 'The rejected message changed the task');
    },
  },
  {
    id: 'turn.history',
    ...may('3.7', 'MSG-005'),
    sentence: 'The history contains each message once, in order.',
    remedy: 'Store each message once, in the order of arrival.',
    async run(probe) {
      const { id: taskId } = await probe.sendPrompt('input-required');
      await probe.expectResult('send', {
        message: { text: 'the answer', messageId: crypto.randomUUID(), taskId },
      });
      const { history = [] } = await probe.waitUntilTerminalOrInterrupted(taskId);
      const ids = history.flatMap((each) => (each as { messageId?: string }).messageId ?? []);
      probe.expectUnique(ids, 'The history contains a message twice');
    },
  },
]);
