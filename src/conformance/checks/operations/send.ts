import { may, must } from '../../rule-model.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { type Check, defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import {
  asList,
  asText,
  listOf,
  type NormalizedMessage,
  objectsOf,
  partsToText,
} from '../../drivers/normalized-views.ts';
import type { DecodedResponse, MessageDraft } from '../../drivers/protocol-driver.ts';
import type { IdentifiedTask, Probe } from '../../probe.ts';

/**
 * Returns a part of a media type that the card does not list as an input mode.
 *
 * @throws NotApplicableError if the card accepts any type.
 */
export function unsupportedPart({ card }: Probe): object {
  const skills = objectsOf(card.skills);
  const modes = [card, ...skills]
    .flatMap((each) => asList(each.defaultInputModes) ?? listOf(each.inputModes))
    .filter((mode) => typeof mode === 'string');
  if (modes.length === 0 || modes.some((mode) => mode.includes('*') || mode.startsWith('application/octet')))
    throw new NotApplicableError('The card does not exclude any media type.');
  return { raw: 'AAEC', mediaType: 'application/x-a2a-probe', filename: 'probe.bin' };
}

/** Sends the prompt for a direct message, in a context if one is given. */
async function sendForMessage(probe: Probe, contextId?: string): Promise<NormalizedMessage> {
  const prompt = probe.prompts.promptFor('message');
  const message = contextId === undefined ? prompt : { ...prompt, contextId };
  const response = await probe.call('send', { message });
  const decoded = probe.driver.decodeMessage(response.result);
  if (decoded) return decoded;
  throw new InconclusiveError(`The response is not a direct message: ${describeResponse(response)}`);
}

/** Sends a message to the echo prompt and returns the task in a terminal or interrupted state. */
async function echo(probe: Probe, message: MessageDraft): Promise<IdentifiedTask> {
  const response = await probe.call('send', { message });
  const task = probe.driver.decodeTask(response.result);
  if (!task?.id)
    throw new InconclusiveError(`The agent created no task to compare: ${describeResponse(response)}`);
  return probe.waitUntilTerminalOrInterrupted(task.id);
}

async function cancelSlowTask(probe: Probe): Promise<IdentifiedTask> {
  const task = await probe.startSlowTask();
  await probe.expectResult('cancel', { id: task.id });
  return probe.waitUntilTerminalOrInterrupted(task.id);
}

/** Creates a task in a terminal state: state, setup, whether the state is compared afterwards. */
const terminalTasks: readonly (readonly [string, (probe: Probe) => Promise<IdentifiedTask>, boolean])[] = [
  ['completed', (probe) => probe.completeTask(), true],
  ['failed', (probe) => probe.sendPrompt('failed'), true],
  ['rejected', (probe) => probe.sendPrompt('rejected'), true],
  ['canceled', cancelSlowTask, false],
];

const terminalChecks = terminalTasks.map(
  ([state, createTask, isCompared]): Check => ({
    id: `send.terminal-${state}`,
    ...must('3.1.1', 'SEND-005'),
    category: 'error-handling',
    sentence: `The agent rejects a message to a ${state} task with UnsupportedOperation.`,
    remedy: 'Reject messages to tasks in a terminal state with -32004 (HTTP 400).',
    versions: ['1.0'],
    async run(probe) {
      const { id } = await createTask(probe);
      await probe.expectError('send', { message: { text: 'go on', taskId: id } }, 'UnsupportedOperation');
      if (!isCompared) return;
      const after = await probe.getTask(id);
      probe.expectEqual(after.state, state, 'The rejected message changed the task');
    },
  }),
);

/** SendMessage: section 3.1.1. */
export const sendChecks = defineChecks({ category: 'lifecycle', versions: ['1.0'] }, [
  {
    id: 'send.answers',
    ...must('3.1.1', 'SEND-001', 'SEND-002', 'SEND-003'),
    sentence: 'The agent responds to a message with a task or a message.',
    remedy: 'Return a task or a message for every valid message.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const response = await probe.call('send', { message: probe.prompts.anyPrompt() });
      const actual = describeResponse(response);
      probe.expectSuccess(response, `A plain text message failed: ${actual}`);
      const decoded = probe.decodeSendResult(response);
      probe.expect(decoded, 'The response contains neither a task nor a message', { actual });
    },
  },
  ...terminalChecks,
  {
    id: 'send.terminal-0.3',
    ...must('7.1', '0.3/terminal'),
    category: 'error-handling',
    sentence: 'The agent rejects a message to a task in a terminal state.',
    remedy: 'Return an error; a task in a terminal state cannot be continued.',
    versions: ['0.3'],
    async run(probe) {
      const task = await probe.completeTask();
      const response = await probe.call('send', { message: { text: 'go on', taskId: task.id } });
      probe.expectFailure(response, 'A message to a completed task was accepted');
    },
  },
  {
    id: 'send.unknown-task',
    ...must('3.1.1', 'SEND-007', 'TID-004'),
    category: 'error-handling',
    sentence:
      'The agent rejects a message to an unknown task with TaskNotFound, and creates no task with that id.',
    remedy: 'Return -32001 (HTTP 404), and generate task ids in the agent.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const taskId = crypto.randomUUID();
      await probe.expectError('send', { message: { text: 'go on', taskId } }, 'TaskNotFound');
      await probe.expectError('get', { id: taskId }, 'TaskNotFound');
    },
  },
  {
    id: 'send.media-type',
    ...must('3.1.1', 'SEND-006', 'SEC-007'),
    category: 'error-handling',
    sentence: 'The agent rejects a part of an unsupported media type with ContentTypeNotSupported.',
    remedy: 'Compare the media types of parts with the input modes of the card, and return -32005.',
    async run(probe) {
      const message = { parts: [unsupportedPart(probe)] };
      const response = await probe.call('send', { message });
      probe.assertError(response, 'ContentTypeNotSupported', 'A part of an unsupported media type');
    },
  },
  {
    id: 'send.several',
    ...must('3.4.2', 'TID-001'),
    sentence: 'The agent assigns a unique id to every new task.',
    remedy: 'Generate a new id for each task, such as a UUID.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const tasks = await Promise.all([1, 2, 3, 4].map(() => probe.sendPrompt('completed')));
      const ids = tasks.map(({ id }) => id);
      probe.expectUnique(ids, 'Two messages created tasks with the same id');
    },
  },
  {
    id: 'send.parallel',
    ...must('3.1.1', 'BIND-002', 'GET-001'),
    sentence: 'The agent keeps concurrent tasks separate: each response belongs to its own message.',
    remedy: 'Store the state of a request per request, not in shared variables.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const { prompts } = probe.context;
      const texts = Array.from(
        { length: 6 },
        (_, index) => `${prompts.promptFor('echo').text ?? 'hello'} marker-${index}-${crypto.randomUUID()}`,
      );
      const send = (text: string): Promise<DecodedResponse> =>
        probe.call('send', { message: { ...prompts.anyPrompt(), text, messageId: crypto.randomUUID() } });
      const responses = await Promise.all(texts.map(send));
      for (const [index, response] of responses.entries()) {
        const json = JSON.stringify(response.result ?? response.error?.raw ?? '');
        const foreign = texts.find(
          (text, other) => other !== index && json.includes(text.split(' ').at(-1) ?? '-'),
        );
        probe.expect(foreign === undefined, 'A response contains the text of another message', {
          exchanges: [response.exchange],
        });
      }
    },
  },
  {
    id: 'send.echo',
    ...must('4', 'MODEL-001', 'IANA-001'),
    sentence: 'The agent preserves text of all languages and all Unicode characters.',
    remedy: 'Decode and encode UTF-8, and do not escape text twice.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const text = 'Grüße, 你好, مرحبا, 🌍 \\u0041 "quoted" <b>&amp;</b> \\ tab\\t end';
      const draft = probe.prompts.promptFor('echo');
      const { artifacts = [] } = await echo(probe, { ...draft, text: `${draft.text ?? ''} ${text}` });
      const echoed = artifacts.map(({ parts }) => partsToText(parts)).join('');
      probe.expect(echoed.includes(text), 'The returned text differs', { expected: text, actual: echoed });
    },
  },
  {
    id: 'send.data',
    ...must('4.1.6', 'MODEL-008', 'MODEL-001'),
    sentence: 'The agent preserves data parts of every JSON type, including null.',
    remedy: 'Test for the presence of data, not for truthiness.',
    async run(probe) {
      const draft = probe.prompts.promptFor('echo');
      const nested = { list: [1, 2.5, true, null, 'x'] };
      const values = [{ nested, empty: {} }, [1, 'two'], null, 0, false, ''];
      const parts = [{ text: draft.text ?? '' }, ...values.map((data) => ({ data }))];
      const { artifacts = [] } = await echo(probe, { ...draft, parts });
      const echoed = artifacts
        .flatMap((each) => each.parts)
        .filter((part) => isJsonObject(part))
        .flatMap(({ data }) => (data === undefined ? [] : JSON.stringify(data)));
      probe.expectEqual(echoed.length, values.length, 'Some data parts are missing');
      for (const [index, value] of values.entries())
        probe.expectEqual(echoed[index], JSON.stringify(value), 'The returned data differs');
    },
  },
  {
    id: 'send.bytes',
    ...must('4.1.6', 'MODEL-008'),
    sentence: 'The agent preserves raw parts, in standard base64, with filename and media type.',
    remedy: 'Encode bytes in standard base64 with padding, and keep filename and mediaType.',
    async run(probe) {
      const draft = probe.prompts.promptFor('echo');
      // All byte values, and a length that needs padding.
      const bytes = [...Array.from({ length: 256 }, (_, byte) => byte), 255, 254];
      const raw = Buffer.from(bytes).toString('base64');
      const modes = listOf(probe.card.defaultInputModes);
      // Agents may reject media types that their card does not list.
      const mediaType = modes.map(asText).find((mode) => mode?.includes('/') && !mode.includes('*'));
      const file = { raw, filename: 'bytes.bin', mediaType: mediaType ?? 'application/octet-stream' };
      const { artifacts = [] } = await echo(probe, { ...draft, parts: [{ text: draft.text ?? '' }, file] });
      const echoed = artifacts
        .flatMap((each) => each.parts)
        .find((part) => isJsonObject(part) && 'raw' in part);
      if (!isJsonObject(echoed)) throw new InconclusiveError('The agent returned no raw part to compare.');
      for (const [name, value] of Object.entries(file))
        probe.expectEqual(echoed[name], value, `The returned ${name} differs`);
    },
  },
  {
    id: 'send.no-task-for-message',
    ...must('3.1.1', 'SEND-002'),
    sentence: 'The agent creates no task if it responds with a direct message.',
    remedy: 'Create a task only if the response contains one.',
    async run(probe) {
      const contextId = crypto.randomUUID();
      await sendForMessage(probe, contextId);
      const page = await probe.call('list', { contextId });
      const { tasks } = (page.result ?? {}) as { tasks?: unknown[] };
      probe.expectEmpty(tasks ?? [], 'The agent created a task for a direct message');
    },
  },
  {
    id: 'send.message-context',
    ...must('3.4.1', 'CTX-002', 'MODEL-005'),
    sentence: 'The agent sets contextId in direct messages.',
    remedy: 'Add contextId to every message of the agent.',
    async run(probe) {
      const { raw } = await sendForMessage(probe);
      const { contextId, role } = raw as { contextId?: unknown; role?: unknown };
      probe.expect(typeof contextId === 'string' && contextId !== '', 'The message has no contextId');
      probe.expectEqual(role, 'ROLE_AGENT', 'The message has the wrong role');
    },
  },
  {
    id: 'send.repeated',
    ...may('3.3.1', 'IDEM-001'),
    sentence: 'The agent accepts a repeated message: it returns the existing task or creates a new one.',
    remedy: 'Return the existing task or a new one for a repeated messageId.',
    async run(probe) {
      const messageId = `again-${crypto.randomUUID()}`;
      const message = { ...probe.prompts.promptFor('completed'), messageId };
      for (const attempt of ['first', 'second']) {
        const response = await probe.call('send', { message });
        probe.expectSuccess(response, `The ${attempt} of two identical messages failed`);
      }
    },
  },
]);
