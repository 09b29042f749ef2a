import type { ResponsePlan } from '../agent/response-plan.ts';

/** Returns a plan that fails the task with a message. */
export function failurePlan(text: string): ResponsePlan {
  const message = { messageId: '', role: 'agent' as const, parts: [{ text }] };
  return {
    steps: [{ kind: 'event', event: { kind: 'status', status: { state: 'failed', message } } }],
    faults: [],
    ending: 'complete',
    origin: text,
  };
}
