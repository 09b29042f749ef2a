import type { RemoteAgent } from '../../client/connect.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { type LintFinding, StreamLinter } from '../../protocol/lint-stream.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { ChatEvent, ChatInput } from '../console-api.ts';
import { parseRequestBody, parseTaskQuery, parseVariant, chatInputSchema } from './request-schemas.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import { errorText } from '../agents/console-agent.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Talks to agents and looks at their tasks. */
export function chatRoutes(book: AgentRegistry): ApiRoutes {
  return {
    'POST agents/{}/messages': async ({ body }, id = '') => {
      const said = parseRequestBody(chatInputSchema, body);
      const known = book.get(id);
      return {
        stream: (stream) =>
          told(stream, async () => {
            const agent = await known.over(said.variant);
            const streams = said.stream ?? (await known.entry()).isStreaming;
            const request = requestOf(said);
            const call = { signal: stream.signal };
            if (streams) return follow(agent.stream(request, call), stream);
            await tell(stream, { kind: 'result', result: await agent.send(request, call) });
            return [];
          }),
      };
    },
    'GET agents/{}/tasks': async ({ query, signal }, id = '') => {
      const { state, ...filters } = parseTaskQuery(query);
      const agent = await book.get(id).over(parseVariant(query));
      const request = { ...filters, ...(state && { status: state }) };
      return { json: await agent.listTasks(request, { signal }).catch((thrown) => noList(agent, thrown)) };
    },
    'GET agents/{}/tasks/{}': async ({ query, signal }, id = '', taskId = '') => {
      const agent = await book.get(id).over(parseVariant(query));
      return { json: await agent.getTask({ id: taskId }, { signal }) };
    },
    'POST agents/{}/tasks/{}/cancel': async ({ query, signal }, id = '', taskId = '') => {
      const agent = await book.get(id).over(parseVariant(query));
      return { json: await agent.cancelTask({ id: taskId }, { signal }) };
    },
    'GET agents/{}/tasks/{}/events': async ({ query }, id = '', taskId = '') => {
      const known = book.get(id);
      const variant = parseVariant(query);
      return {
        stream: (stream) =>
          told(stream, async () => {
            const agent = await known.over(variant);
            return follow(agent.subscribe({ id: taskId }, { signal: stream.signal }), stream);
          }),
      };
    },
  };
}

function requestOf({ parts, taskId, contextId }: ChatInput): SendRequest {
  return {
    message: {
      messageId: crypto.randomUUID(),
      role: 'user',
      parts: [...parts],
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
    },
  };
}

function tell(stream: JsonEventStream, event: ChatEvent): Promise<boolean> {
  return stream.send(event);
}

/** Ends what is told with `done`, or with why it is not. */
async function told(stream: JsonEventStream, work: () => Promise<readonly LintFinding[]>): Promise<void> {
  try {
    const findings = await work();
    await tell(stream, { kind: 'done', ...(findings.length > 0 && { findings }) });
  } catch (thrown) {
    await tell(stream, { kind: 'error', reason: A2AError.from(thrown).reason, message: errorText(thrown) });
  }
}

/** Passes events on as fast as the page reads; leaving ends the following, and the task goes on. */
async function follow(
  events: AsyncIterable<StreamEvent>,
  stream: JsonEventStream,
): Promise<readonly LintFinding[]> {
  const linter = new StreamLinter();
  for await (const event of events)
    if (!(await tell(stream, { kind: 'event', event, findings: linter.check(event) }))) return [];
  return linter.end();
}

/** Only 1.0 has a list of tasks; what the others answer to that helps nobody. */
async function noList(agent: RemoteAgent, thrown: unknown): Promise<never> {
  const error = A2AError.from(thrown);
  if (error.reason !== 'UNSUPPORTED_OPERATION' && error.reason !== 'METHOD_NOT_FOUND') throw error;
  const { version } = await agent.describe();
  const why =
    version === '1.0' ? 'This agent does not list its tasks' : `A2A ${version} has no list of tasks`;
  throw new A2AError('UNSUPPORTED_OPERATION', why, {
    cause: error,
    hint: 'Open a task by its id, or select a 1.0 variant if the agent offers one.',
  });
}
