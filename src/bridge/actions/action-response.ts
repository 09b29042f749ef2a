import { type A2AError, errorTable } from '../../protocol/errors.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import type { ActionResponse, ActionStatus } from '../action-types.ts';
import type { ActionContent } from './action-content.ts';

const empty: ActionResponse = {
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

/** A response with everything that a caller may look for. */
export function buildResponse(said: Partial<ActionResponse>, task?: Task): ActionResponse {
  return { ...empty, taskId: task?.id, contextId: task?.contextId, ...said };
}

/** The response for what went well. */
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

/** The response for something that went wrong on this side of the agent. */
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

/** What a caller reads when it brings a follow-up ID that is not good. */
export const invalidFollowUp: ActionResponse = buildResponse({
  message: 'Invalid or expired follow-up ID.',
  errorInfo: {
    errorMessage: 'Invalid or expired follow-up ID.',
    hint: 'A follow-up ID is good once, for a while, and for the session that got it. Call the action again.',
  },
});

/** The word for a state in which a task rests. */
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
