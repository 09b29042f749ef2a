import type { ConformanceRule } from '../rule-model.ts';
import { defineInvariants, type Observation } from '../observation/observation.ts';
import { type NormalizedEvent, isJsonObject } from '../drivers/normalized-views.ts';

type Push = Observation & { readonly kind: 'push' };

/** A rule that every notification must keep: its id, what it is about, and what is wrong with one. */
function every(
  rule: Pick<ConformanceRule, 'id' | 'requirements' | 'level' | 'sentence' | 'remedy'>,
  wrongWith: (push: Push) => string | undefined,
) {
  return {
    ...rule,
    section: '4.3.3',
    category: 'lifecycle' as const,
    versions: ['1.0' as const],
    check: (observation: Observation) => {
      if (observation.kind !== 'push') return undefined;
      const wrong = wrongWith(observation);
      return wrong === undefined ? [] : [wrong];
    },
  };
}

function taskIdOf(event: NormalizedEvent): string | undefined {
  if (event.kind === 'task') return event.task.id;
  return event.kind === 'status' || event.kind === 'artifact' ? event.taskId : undefined;
}

const payloads = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/** What every notification must be. */
export const pushInvariants = defineInvariants([
  every(
    {
      id: 'push.post',
      requirements: ['PUSH-001', 'PUSH-012'],
      level: 'MUST',
      sentence: 'Notifications are posted.',
      remedy: 'Use the method POST.',
    },
    ({ exchange: { method } }) => (method === 'POST' ? undefined : `The method was ${method}`),
  ),
  every(
    {
      id: 'push.media-type',
      requirements: ['PUSH-012'],
      level: 'MUST',
      sentence: 'Notifications are JSON and say so.',
      remedy: 'Send Content-Type: application/a2a+json.',
    },
    ({ exchange: { requestHeaders } }) => {
      const type = requestHeaders['content-type'] ?? 'none';
      return /^application\/(a2a\+)?json\b/i.test(type) ? undefined : `The media type was ${type}`;
    },
  ),
  every(
    {
      id: 'push.payload',
      requirements: ['PUSH-012'],
      level: 'MUST',
      sentence: 'The body of a notification is one StreamResponse, whatever the binding.',
      remedy:
        'Send {"task": …}, {"statusUpdate": …}, {"artifactUpdate": …} or {"message": …}, with no envelope.',
    },
    ({ body }) => {
      if (!isJsonObject(body)) return 'The body is no JSON object';
      if ('jsonrpc' in body || 'result' in body) return 'The body is in an envelope of JSON-RPC';
      const there = payloads.filter((name) => isJsonObject(body[name]));
      if (there.length === 1) return undefined;
      return `The body has ${there.join(' and ') || `none of ${payloads.join(', ')}`} (${Object.keys(body).join(', ').slice(0, 80)})`;
    },
  ),
  every(
    {
      id: 'push.task',
      requirements: ['PUSH-001', 'PUSH-012'],
      level: 'MUST',
      sentence: 'A webhook is told of the task that it was registered for, and of no other.',
      remedy: 'Keep webhooks by task.',
    },
    ({ event, taskId }) => {
      const told = taskIdOf(event);
      return told === undefined || taskId === '' || told === taskId
        ? undefined
        : `A webhook of task ${taskId} was told of task ${told}`;
    },
  ),
]);
