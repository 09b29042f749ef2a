import { defineChecks } from '../../check.ts';
import { RuleViolationError, InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asList, asText, partsToText } from '../../drivers/normalized-views.ts';

/** The media types that the card says are taken. */
function inputModes({ card }: Probe): string[] {
  const skills = (asList(card.skills) ?? []).filter(isJsonObject);
  return [card, ...skills]
    .flatMap((each) => asList(each.defaultInputModes) ?? asList(each.inputModes) ?? [])
    .filter((mode) => typeof mode === 'string');
}

/** SendMessage: section 3.1.1. */
export const sendChecks = defineChecks([
  {
    id: 'send.answers',
    requirements: ['SEND-001', 'SEND-002', 'SEND-003'],
    section: '3.1.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A message is answered with a task or with a message.',
    remedy: 'Answer every message that can be read.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const response = await probe.call('send', { message: probe.context.prompts.anyPrompt() });
      probe.expect(
        response.error === undefined && response.decodeError === undefined,
        `A plain message failed: ${describeResponse(response)}`,
        {
          expected: 'a task or a message',
          actual: describeResponse(response),
        },
      );
      const { driver } = probe;
      const isOne =
        driver.decodeTask(response.result) !== undefined ||
        driver.decodeMessage(response.result) !== undefined;
      probe.expect(isOne, 'The answer holds neither a task nor a message', {
        actual: describeResponse(response),
      });
    },
  },
  {
    id: 'send.terminal-completed',
    requirements: ['SEND-005'],
    section: '3.1.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message to a task that is completed is refused with UnsupportedOperation.',
    remedy: 'Refuse messages to tasks that have ended: -32004, HTTP 400.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.completeTask();
      const message = { text: 'go on', taskId: task.id };
      await probe.expectError('send', { message }, 'UnsupportedOperation');
      const after = await probe.getTask(task.id);
      probe.expect(after.state === 'completed', 'The refused message changed the task', {
        expected: 'completed',
        actual: after.state,
      });
    },
  },
  {
    id: 'send.terminal-failed',
    requirements: ['SEND-005'],
    section: '3.1.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message to a task that is failed is refused with UnsupportedOperation.',
    remedy: 'Refuse messages to tasks that have ended: -32004, HTTP 400.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.sendPrompt('failed');
      const message = { text: 'go on', taskId: task.id };
      await probe.expectError('send', { message }, 'UnsupportedOperation');
      const after = await probe.getTask(task.id);
      probe.expect(after.state === 'failed', 'The refused message changed the task', {
        expected: 'failed',
        actual: after.state,
      });
    },
  },
  {
    id: 'send.terminal-rejected',
    requirements: ['SEND-005'],
    section: '3.1.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message to a task that is rejected is refused with UnsupportedOperation.',
    remedy: 'Refuse messages to tasks that have ended: -32004, HTTP 400.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.sendPrompt('rejected');
      const message = { text: 'go on', taskId: task.id };
      await probe.expectError('send', { message }, 'UnsupportedOperation');
      const after = await probe.getTask(task.id);
      probe.expect(after.state === 'rejected', 'The refused message changed the task', {
        expected: 'rejected',
        actual: after.state,
      });
    },
  },
  {
    id: 'send.terminal-canceled',
    requirements: ['SEND-005'],
    section: '3.1.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message to a task that is canceled is refused with UnsupportedOperation.',
    remedy: 'Refuse messages to tasks that have ended: -32004, HTTP 400.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.startSlowTask();
      await probe.expectResult('cancel', { id: task.id });
      await probe.waitUntilTerminalOrInterrupted(task.id);
      await probe.expectError(
        'send',
        { message: { text: 'go on', taskId: task.id } },
        'UnsupportedOperation',
      );
    },
  },
  {
    id: 'send.terminal-0.3',
    requirements: ['0.3/terminal'],
    section: '7.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message to a task that has ended is refused.',
    remedy: 'Answer with an error: tasks that have ended do not go on.',
    versions: ['0.3'],
    async run(probe) {
      const task = await probe.completeTask();
      const response = await probe.call('send', { message: { text: 'go on', taskId: task.id } });
      probe.expect(response.error !== undefined, 'A message to a finished task was taken', {
        expected: 'an error',
        actual: describeResponse(response),
      });
    },
  },
  {
    id: 'send.unknown-task',
    requirements: ['SEND-007', 'TID-004'],
    section: '3.1.1',
    level: 'MUST',
    category: 'error-handling',
    sentence:
      'A message to a task that does not exist is refused with TaskNotFound, and no task is made under that id.',
    remedy: 'Answer -32001 (HTTP 404), and make ids yourself.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const taskId = crypto.randomUUID();
      await probe.expectError('send', { message: { text: 'go on', taskId } }, 'TaskNotFound');
      await probe.expectError('get', { id: taskId }, 'TaskNotFound');
    },
  },
  {
    id: 'send.media-type',
    requirements: ['SEND-006', 'SEC-007'],
    section: '3.1.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A part of a media type that the agent does not take is refused with ContentTypeNotSupported.',
    remedy: 'Compare the media types of parts with the input modes of the card, and answer -32005.',
    versions: ['1.0'],
    async run(probe) {
      const modes = inputModes(probe);
      if (
        modes.length === 0 ||
        modes.some((mode) => mode.includes('*') || mode.startsWith('application/octet'))
      )
        throw new NotApplicableError('The card does not say that any type is not taken.');
      const parts = [{ raw: 'AAEC', mediaType: 'application/x-a2a-probe', filename: 'probe.bin' }];
      const response = await probe.call('send', { message: { parts } });
      if (!response.error)
        throw new RuleViolationError('A part of an unknown type was taken', {
          expected: 'ContentTypeNotSupported',
          actual: describeResponse(response),
          exchanges: [response.exchange],
        });
      probe.assertError(response, 'ContentTypeNotSupported', 'The part');
    },
  },
  {
    id: 'send.several',
    requirements: ['TID-001'],
    section: '3.4.2',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Every new task has an id of its own.',
    remedy: 'Make a new id for each task, such as a UUID.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const tasks = await Promise.all([1, 2, 3, 4].map(() => probe.sendPrompt('completed')));
      const ids = new Set(tasks.map(({ id }) => id));
      probe.expect(ids.size === tasks.length, 'Two messages got a task of the same id', {
        actual: [...ids].join(', '),
      });
    },
  },
  {
    id: 'send.parallel',
    requirements: ['BIND-002', 'GET-001'],
    section: '3.1.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Tasks that run at the same time do not mix: each answer belongs to its own message.',
    remedy: 'Keep nothing about a request in a place that requests share.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const texts = Array.from(
        { length: 6 },
        (_, index) =>
          `${probe.context.prompts.promptFor('echo').text ?? 'hello'} marker-${index}-${crypto.randomUUID()}`,
      );
      const answers = await Promise.all(
        texts.map((text) =>
          probe.call('send', {
            message: { ...probe.context.prompts.anyPrompt(), text, messageId: crypto.randomUUID() },
          }),
        ),
      );
      for (const [index, response] of answers.entries()) {
        const answer = JSON.stringify(response.result ?? response.error?.raw ?? '');
        const foreign = texts.find(
          (text, other) => other !== index && answer.includes(text.split(' ').at(-1) ?? '-'),
        );
        probe.expect(foreign === undefined, 'An answer holds the text of another message', {
          exchanges: [response.exchange],
        });
      }
    },
  },
  {
    id: 'send.echo',
    requirements: ['MODEL-001', 'IANA-001'],
    section: '4',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Text of every language and every kind of character comes back as it was sent.',
    remedy: 'Read and write UTF-8, and escape nothing twice.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const words = 'Grüße, 你好, مرحبا, 🌍 \\u0041 "quoted" <b>&amp;</b> \\ tab\\t end';
      const draft = probe.context.prompts.promptFor('echo');
      const response = await probe.call('send', {
        message: { ...draft, text: `${draft.text ?? ''} ${words}` },
      });
      const task = probe.driver.decodeTask(response.result);
      if (!task?.id)
        throw new InconclusiveError(`There is nothing to compare: ${describeResponse(response)}`);
      const rested = await probe.waitUntilTerminalOrInterrupted(task.id);
      const all = (rested.artifacts ?? []).map((each) => partsToText(each.parts)).join('');
      probe.expect(all.includes(words), 'The text came back changed', {
        expected: words,
        actual: all.slice(0, 200),
      });
    },
  },
  {
    id: 'send.data',
    requirements: ['MODEL-008', 'MODEL-001'],
    section: '4.1.6',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Data of every JSON type comes back as it was sent, null included.',
    remedy: 'Keep data as it is; test for the member, not for its truth.',
    versions: ['1.0'],
    async run(probe) {
      const draft = probe.context.prompts.promptFor('echo');
      const values = [
        { nested: { list: [1, 2.5, true, null, 'x'] }, empty: {} },
        [1, 'two'],
        null,
        0,
        false,
        '',
      ];
      const parts = [{ text: draft.text ?? '' }, ...values.map((data) => ({ data }))];
      const response = await probe.call('send', { message: { ...draft, parts } });
      const task = probe.driver.decodeTask(response.result);
      if (!task?.id)
        throw new InconclusiveError(`There is nothing to compare: ${describeResponse(response)}`);
      const { artifacts = [] } = await probe.waitUntilTerminalOrInterrupted(task.id);
      const back = artifacts
        .flatMap((each) => each.parts)
        .filter((part) => isJsonObject(part) && 'data' in part);
      probe.expect(back.length === values.length, 'Some data got lost', {
        expected: String(values.length),
        actual: String(back.length),
      });
      for (const [index, part] of back.entries()) {
        const got = JSON.stringify((part as { data: unknown }).data);
        probe.expect(got === JSON.stringify(values[index]), 'Data came back changed', {
          expected: JSON.stringify(values[index]),
          actual: got,
        });
      }
    },
  },
  {
    id: 'send.bytes',
    requirements: ['MODEL-008'],
    section: '4.1.6',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Bytes come back as they were sent, in standard base64, with their name and media type.',
    remedy: 'Encode bytes in standard base64 with padding, and keep filename and mediaType with them.',
    versions: ['1.0'],
    async run(probe) {
      const draft = probe.context.prompts.promptFor('echo');
      // Every byte, and a length that needs padding.
      const raw = Buffer.from([...Array.from({ length: 256 }, (_, byte) => byte), 255, 254]).toString(
        'base64',
      );
      const modes = asList(probe.card.defaultInputModes) ?? [];
      // Some agents look at the media type, and take only what their card names.
      const mediaType = modes.map(asText).find((mode) => mode?.includes('/') && !mode.includes('*'));
      const file = { raw, filename: 'bytes.bin', mediaType: mediaType ?? 'application/octet-stream' };
      const message = { ...draft, parts: [{ text: draft.text ?? '' }, file] };
      const response = await probe.call('send', { message });
      const task = probe.driver.decodeTask(response.result);
      if (!task?.id)
        throw new InconclusiveError(`There is nothing to compare: ${describeResponse(response)}`);
      const { artifacts = [] } = await probe.waitUntilTerminalOrInterrupted(task.id);
      const back = artifacts
        .flatMap((each) => each.parts)
        .find((part) => isJsonObject(part) && 'raw' in part);
      if (!isJsonObject(back))
        throw new InconclusiveError('The agent gave no bytes back, so nothing can be compared.');
      for (const [name, value] of Object.entries(file))
        probe.expect(back[name] === value, `${name} came back changed`, {
          expected: value,
          actual: JSON.stringify(back[name]) ?? 'nothing',
        });
    },
  },
  {
    id: 'send.no-task-for-message',
    requirements: ['SEND-002'],
    section: '3.1.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A direct message makes no task.',
    remedy: 'Make a task only when you answer with one.',
    versions: ['1.0'],
    async run(probe) {
      const contextId = crypto.randomUUID();
      const response = await probe.call('send', {
        message: { ...probe.context.prompts.promptFor('message'), contextId },
      });
      if (!probe.driver.decodeMessage(response.result))
        throw new InconclusiveError(`The answer is no direct message: ${describeResponse(response)}`);
      const listed = await probe.call('list', { contextId });
      const { tasks } = (listed.result ?? {}) as { tasks?: unknown[] };
      probe.expect((tasks ?? []).length === 0, 'There is a task for a direct message', {
        actual: String(tasks?.length),
      });
    },
  },
  {
    id: 'send.message-context',
    requirements: ['CTX-002', 'MODEL-005'],
    section: '3.4.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A direct message says which context it belongs to.',
    remedy: 'Put contextId into every message of the agent.',
    versions: ['1.0'],
    async run(probe) {
      const response = await probe.call('send', { message: probe.context.prompts.promptFor('message') });
      const answer = probe.driver.decodeMessage(response.result);
      if (!answer)
        throw new InconclusiveError(`The answer is no direct message: ${describeResponse(response)}`);
      const { contextId, role } = answer.raw as { contextId?: unknown; role?: unknown };
      probe.expect(typeof contextId === 'string' && contextId !== '', 'The message has no contextId');
      probe.expect(role === 'ROLE_AGENT', "The message is not the agent's", {
        expected: 'ROLE_AGENT',
        actual: String(role),
      });
    },
  },
  {
    id: 'send.repeated',
    requirements: ['IDEM-001'],
    section: '3.3.1',
    level: 'MAY',
    category: 'lifecycle',
    sentence: 'A message that is sent again runs again, or is known again.',
    remedy: 'Answer a repeated messageId with the same task, or with a new one.',
    versions: ['1.0'],
    async run(probe) {
      const message = {
        ...probe.context.prompts.promptFor('completed'),
        messageId: `again-${crypto.randomUUID()}`,
      };
      for (const time of ['first', 'second']) {
        const response = await probe.call('send', { message });
        probe.expect(
          response.result !== undefined,
          `The ${time} of two equal messages failed: ${describeResponse(response)}`,
        );
      }
    },
  },
]);
