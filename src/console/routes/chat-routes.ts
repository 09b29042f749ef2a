import type { RemoteAgent } from '../../client/connect.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { type LintFinding, StreamLinter } from '../../protocol/lint-stream.ts';
import type { ListTasksRequest, SendRequest, TaskPage } from '../../protocol/requests.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { ChatEvent, ChatInput, TaskListPage } from '../console-api.ts';
import {
  parseRequestBody,
  parseTaskQuery,
  parseVariantParameter,
  chatInputSchema,
} from './request-schemas.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import { type ConsoleAgent, errorText } from '../agents/console-agent.ts';
import type { ApiRoutes } from '../api-routes.ts';
import type { Conversations } from '../sessions/conversations.ts';
import type { TestTraffic } from '../test-traffic.ts';
import { listWithoutTests } from './task-list.ts';

/** Receives the events of an answer. @returns false if no further events are needed */
type AddEvent = (event: ChatEvent) => Promise<boolean>;

/** Routes of the chat and task views. */
export function chatRoutes(
  agents: AgentRegistry,
  conversations: Conversations,
  testTraffic: TestTraffic,
): ApiRoutes {
  return {
    'POST agents/{}/messages': async ({ body }, id = '') => {
      const input = parseRequestBody(chatInputSchema, body);
      const consoleAgent = agents.get(id);
      const { conversation, parts, taskId } = input;
      if (!conversation)
        return {
          stream: (stream) => answer(consoleAgent, input, (event) => sendEvent(stream, event), stream.signal),
        };
      const turn = conversations.start(conversation, id, {
        input: parts,
        ...(taskId !== undefined && { taskId }),
      });
      const { signal } = turn.stop;
      const add: AddEvent = async (event) => {
        await conversations.add(conversation.id, turn, event);
        return !signal.aborted;
      };
      conversations.run(conversation.id, turn, () => answer(consoleAgent, input, add, signal));
      return { stream: (stream) => turn.follow(stream) };
    },
    'GET agents/{}/tasks': async ({ query, signal }, id = '') => {
      const { state: status, tests, ...filters } = parseTaskQuery(query);
      const variant = parseVariantParameter(query);
      const request: ListTasksRequest = { ...filters, ...(status && { status }) };
      // Pages that only follow because tasks were left out are no requests of the user.
      const readPage = async (page: ListTasksRequest, isRecorded: boolean): Promise<TaskPage> => {
        const agent = await agents.get(id).connect(variant, { isRecorded });
        return agent.listTasks(page, { signal }).catch((thrown: unknown) => rejectList(agent, thrown));
      };
      const page: TaskListPage =
        tests === 'hide' && testTraffic.hasTasks
          ? await listWithoutTests(readPage, request, (taskId) => testTraffic.isTestTask(taskId))
          : { ...(await readPage(request, true)), hiddenCount: 0 };
      return { json: page };
    },
    'GET agents/{}/tasks/{}': async ({ query, signal }, id = '', taskId = '') => {
      const agent = await agents.get(id).connect(parseVariantParameter(query));
      return { json: await agent.getTask({ id: taskId }, { signal }) };
    },
    'POST agents/{}/tasks/{}/cancel': async ({ query, signal }, id = '', taskId = '') => {
      const agent = await agents.get(id).connect(parseVariantParameter(query));
      return { json: await agent.cancelTask({ id: taskId }, { signal }) };
    },
    'GET agents/{}/tasks/{}/events': async ({ query }, id = '', taskId = '') => {
      const consoleAgent = agents.get(id);
      const variant = parseVariantParameter(query);
      return {
        stream: (stream) => {
          const add: AddEvent = (event) => sendEvent(stream, event);
          return answerSafely(add, stream.signal, async () => {
            const agent = await consoleAgent.connect(variant);
            return forwardEvents(agent.subscribe({ id: taskId }, { signal: stream.signal }), add);
          });
        },
      };
    },
  };
}

function buildRequest({ parts, taskId, contextId }: ChatInput): SendRequest {
  return { message: { messageId: crypto.randomUUID(), role: 'user', parts: [...parts], taskId, contextId } };
}

function sendEvent(stream: JsonEventStream, event: ChatEvent): Promise<boolean> {
  return stream.send(event);
}

/** Sends a message and passes on the events of the answer. Never rejects. */
function answer(
  consoleAgent: ConsoleAgent,
  input: ChatInput,
  add: AddEvent,
  signal: AbortSignal,
): Promise<void> {
  return answerSafely(add, signal, async () => {
    const agent = await consoleAgent.connect(input.variant);
    const isStreaming = input.stream ?? (await consoleAgent.entry()).isStreaming;
    const request = buildRequest(input);
    if (isStreaming) return forwardEvents(agent.stream(request, { signal }), add);
    await add({ kind: 'result', result: await agent.send(request, { signal }) });
    return [];
  });
}

/** Runs `work` and adds `done` at its end, or `error` if it rejects. Stopping is no error. */
export async function answerSafely(
  add: AddEvent,
  signal: AbortSignal,
  work: () => Promise<readonly LintFinding[]>,
): Promise<void> {
  try {
    const findings = await work();
    await add({ kind: 'done', ...(findings.length > 0 && { findings }) });
  } catch (thrown) {
    const { reason } = A2AError.from(thrown);
    await add(signal.aborted ? { kind: 'done' } : { kind: 'error', reason, message: errorText(thrown) });
  }
}

/** Passes events on as fast as they are taken. When no more are needed, the task continues. */
export async function forwardEvents(
  events: AsyncIterable<StreamEvent>,
  add: AddEvent,
): Promise<readonly LintFinding[]> {
  const linter = new StreamLinter();
  for await (const event of events)
    if (!(await add({ kind: 'event', event, findings: linter.check(event) }))) return [];
  return linter.end();
}

/** Replaces the error of a missing task list by a clear message: only 1.0 defines the operation. */
async function rejectList(agent: RemoteAgent, thrown: unknown): Promise<never> {
  const error = A2AError.from(thrown);
  if (error.reason !== 'UNSUPPORTED_OPERATION' && error.reason !== 'METHOD_NOT_FOUND') throw error;
  const { version } = await agent.describe();
  const message =
    version === '1.0' ? 'The agent does not support task lists' : `A2A ${version} has no task list`;
  throw new A2AError('UNSUPPORTED_OPERATION', message, {
    cause: error,
    hint: 'Open a task by its id, or select a 1.0 variant if the agent offers one.',
  });
}
