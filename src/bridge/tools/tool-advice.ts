import type { ActionResponse, ActionStatus } from '../action-types.ts';

/** Advice for unsuccessful calls without a hint. */
const advice: { readonly [status in ActionStatus]?: string } = {
  FAILED: 'The task failed. Change the request, or try again later.',
  REJECTED: 'The agent rejected the task. Send a request that matches its description.',
  CANCELED: 'The task was canceled. Call the tool again to restart it.',
  AUTH_REQUIRED:
    'The agent requires credentials. Set them where the tools are created; never pass them as arguments.',
  ERROR: 'The agent is unreachable or returned an invalid response. Try again later.',
  TIMEOUT: 'The agent did not respond in time. Try again later.',
};

/** How a model continues a task; each text follows `Call the tool …`. */
export interface ContinuationAdvice {
  /** Names the tool that continues the task and its arguments; empty if the task cannot be continued. */
  readonly call: string;
  readonly withInput: string;
  readonly toWait: string;
}

/** Tells a model what to do after a call: provide input, wait, change the request. Empty after success. */
export function formatToolAdvice(
  { success, status, errorInfo }: ActionResponse,
  { call, withInput, toWait }: ContinuationAdvice,
): string {
  const continuation = (how: string): string => (call === '' ? '' : `${call} ${how}`);
  if (status === 'INPUT_REQUIRED') return continuation(withInput);
  if (status === 'RUNNING') return `The agent is still working. ${continuation(toWait)}`.trim();
  if (success) return '';
  const next = status === 'AUTH_REQUIRED' ? continuation('once they are set.') : '';
  return [errorInfo?.hint ?? advice[status], next].filter(Boolean).join(' ');
}
