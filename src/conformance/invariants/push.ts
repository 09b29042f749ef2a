import { must } from '../rule-model.ts';
import { defineInvariants, type Invariant, type Observation } from '../observation/observation.ts';
import { isJsonObject } from '../../primitives/json.ts';
import { eventTaskId } from '../drivers/normalized-views.ts';

/** Evaluates a rule on every notification. `check` returns the violation. */
function onPush(
  check: (push: Observation & { readonly kind: 'push' }) => string | undefined,
): Invariant['check'] {
  return (observation) => {
    if (observation.kind !== 'push') return undefined;
    const message = check(observation);
    return message === undefined ? [] : [message];
  };
}

const payloads = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/** Rules of push notifications. */
export const pushInvariants = defineInvariants(
  { category: 'lifecycle', versions: ['1.0'], preconditions: ['push'] },
  [
    {
      id: 'push.post',
      ...must('4.3.3', 'PUSH-001', 'PUSH-012'),
      sentence: 'The agent sends notifications with the method POST.',
      remedy: 'Send notifications with POST.',
      check: onPush(({ exchange: { method } }) =>
        method === 'POST' ? undefined : `The method was ${method}`,
      ),
    },
    {
      id: 'push.media-type',
      ...must('4.3.3', 'PUSH-012'),
      sentence: 'The agent sends notifications with a JSON Content-Type.',
      remedy: 'Set Content-Type to application/a2a+json.',
      check: onPush(({ exchange: { requestHeaders } }) => {
        const type = requestHeaders['content-type'] ?? 'none';
        return /^application\/(a2a\+)?json\b/i.test(type) ? undefined : `The media type was ${type}`;
      }),
    },
    {
      id: 'push.payload',
      ...must('4.3.3', 'PUSH-012'),
      sentence:
        'The agent sends one StreamResponse as the body of a notification, regardless of the transport.',
      remedy:
        'Send {"task": …}, {"statusUpdate": …}, {"artifactUpdate": …} or {"message": …} without an envelope.',
      check: onPush(({ body }) => {
        if (!isJsonObject(body)) return 'The body is not a JSON object';
        if ('jsonrpc' in body || 'result' in body) return 'The body has a JSON-RPC envelope';
        const present = payloads.filter((name) => isJsonObject(body[name]));
        if (present.length === 1) return undefined;
        return `The body has ${present.join(' and ') || `none of ${payloads.join(', ')}`} (${Object.keys(body).join(', ').slice(0, 80)})`;
      }),
    },
    {
      id: 'push.task',
      ...must('4.3.3', 'PUSH-001', 'PUSH-012'),
      sentence: 'The agent sends a webhook only notifications of the task it was registered for.',
      remedy: 'Store push configurations per task.',
      check: onPush(({ event, taskId }) => {
        const notified = eventTaskId(event);
        return notified === undefined || taskId === '' || notified === taskId
          ? undefined
          : `A webhook of task ${taskId} received a notification of task ${notified}`;
      }),
    },
  ],
);
