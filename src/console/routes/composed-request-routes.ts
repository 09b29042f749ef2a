import { A2AError } from '../../protocol/errors.ts';
import { DecodeQueue } from '../../tap/recorders/decode-queue.ts';
import { TrafficLog } from '../../tap/traffic-log.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { errorText, type ConsoleAgent } from '../agents/console-agent.ts';
import type { ApiRoutes } from '../api-routes.ts';
import type { ComposedRequest, ComposedRequestEvent } from '../console-api.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import type { ComposedRequestSender } from '../requests/composed-request-sender.ts';
import { composedRequestSchema, parseRequestBody } from './request-schemas.ts';

/** Maximum number of records per write. */
const batchSize = 100;

/** Routes of the request editor. */
export function composedRequestRoutes(agents: AgentRegistry, sender: ComposedRequestSender): ApiRoutes {
  return {
    'GET agents/{}/endpoints': async (_request, id = '') => ({ json: await agents.get(id).endpoints() }),
    'POST agents/{}/requests': ({ body }, id = '') => {
      const agent = agents.get(id);
      const input = parseRequestBody(composedRequestSchema, body);
      return { stream: (stream) => forwardRecords(stream, sender, agent, input) };
    },
  };
}

/** Sends a request, and its records to the page while they arrive. */
async function forwardRecords(
  stream: JsonEventStream,
  sender: ComposedRequestSender,
  agent: ConsoleAgent,
  input: ComposedRequest,
): Promise<void> {
  const log = new TrafficLog();
  let end: ComposedRequestEvent | undefined;
  let wake = (): void => {};
  log.subscribe(() => wake());
  void sender
    .send(agent, input, log, stream.signal)
    .then(
      (): ComposedRequestEvent => ({ kind: 'done' }),
      (thrown: unknown): ComposedRequestEvent => ({
        kind: 'error',
        reason: A2AError.from(thrown).reason,
        message: errorText(thrown),
      }),
    )
    .then((last) => {
      DecodeQueue.of(log).drain();
      end = last;
      wake();
    });
  for (let cursor = 0; !stream.signal.aborted; ) {
    const records = log.recordsAfter(cursor).slice(0, batchSize);
    const last = records.at(-1);
    if (last) {
      cursor = last.sequence;
      await stream.send(...records.map((record) => ({ kind: 'record', record })));
    } else if (end) {
      await stream.send(end);
      return;
    } else
      await stream.waitFor((notify) => {
        wake = notify;
        return () => {};
      });
  }
}
