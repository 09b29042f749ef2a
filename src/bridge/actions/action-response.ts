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
  return {
    success: true,
    status: 'COMPLETED',
    message,
    files,
    data,
    errorInfo: undefined,
    followUpId: undefined,
    taskId,
    contextId,
  };
}

/** Builds the response of a call that failed before or after the agent processed it. */
export function failureResponse(error: A2AError, task?: Task): ActionResponse {
  return buildResponse(
    {
      status: error.reason === 'TIMEOUT' ? 'TIMEOUT' : error.reason === 'CANCELED' ? 'CANCELED' : 'ERROR',
      message: error.message,
      errorInfo: {
        errorMessage: error.message,
        code: errorTable[error.reason].rpc,
        ...(error.hint !== undefined && { hint: error.hint }),
      },
    },
    task,
  );
}

/** Response to an invalid or expired follow-up ID. */
export const invalidFollowUp: ActionResponse = buildResponse({
  message: 'Invalid or expired follow-up ID.',
  errorInfo: {
    errorMessage: 'Invalid or expired follow-up ID.',
    hint: 'Call the action again. A follow-up ID is valid once, for a limited time and in the session that received it.',
  },
});

/** Maps a task state to the status of a response. */
export function actionStatus(state: TaskState): ActionStatus {
  switch (state) {
    case 'completed':
      return 'COMPLETED';
    case 'failed':
      return 'FAILED';
    case 'rejected':
      return 'REJECTED';
    case 'canceled':
      return 'CANCELED';
    case 'input-required':
      return 'INPUT_REQUIRED';
    case 'auth-required':
      return 'AUTH_REQUIRED';
    default:
      return 'RUNNING';
  }
}
