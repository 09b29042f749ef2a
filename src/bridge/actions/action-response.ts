import { type A2AError, errorTable } from '../../protocol/errors.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import type { ActionResponse, ActionStatus } from '../action-types.ts';
import type { ActionContent } from './action-content.ts';

const defaults: ActionResponse = {
  success: false,
  status: 'ERROR',
  message: '',
  files: [],
  data: {},
  errorInfo: undefined,
  followUpId: undefined,
  taskId: undefined,
  contextId: undefined,
};

/** Applies defaults for missing fields of a response. */
export function buildResponse(fields: Partial<ActionResponse>, task?: Task): ActionResponse {
  return { ...defaults, taskId: task?.id, contextId: task?.contextId, ...fields };
}

/** Builds the response of a completed call. */
export function completedResponse(
  { message, files, data }: ActionContent,
  taskId: string | undefined,
  contextId: string | undefined,
): ActionResponse {
  return { ...defaults, success: true, status: 'COMPLETED', message, files, data, taskId, contextId };
}

/** Builds the response of a call that failed before or after the agent processed it. */
export function failureResponse(error: A2AError, task?: Task): ActionResponse {
  const { reason, message, hint } = error;
  const status = reason === 'TIMEOUT' || reason === 'CANCELED' ? reason : 'ERROR';
  const errorInfo = { errorMessage: message, code: errorTable[reason].rpc, hint };
  return buildResponse({ status, message, errorInfo }, task);
}

/** Response to an invalid or expired follow-up ID. */
export const invalidFollowUp: ActionResponse = buildResponse({
  message: 'Invalid or expired follow-up ID.',
  errorInfo: {
    errorMessage: 'Invalid or expired follow-up ID.',
    hint: 'Call the action again. A follow-up ID is valid once, for a limited time and in the session that received it.',
  },
});

const statuses: { readonly [state in TaskState]?: ActionStatus } = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  rejected: 'REJECTED',
  canceled: 'CANCELED',
  'input-required': 'INPUT_REQUIRED',
  'auth-required': 'AUTH_REQUIRED',
};

/** Maps a task state to the status of a response. */
export function actionStatus(state: TaskState): ActionStatus {
  return statuses[state] ?? 'RUNNING';
}
