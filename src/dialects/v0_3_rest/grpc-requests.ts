import type { Dialect } from '../dialect.ts';
import { requests as rest } from './requests.ts';

const taskName = (id: string): string => `tasks/${id}`;

const ref: Dialect['requests']['getPushConfig'] = {
  ...rest.getPushConfig,
  write: ({ taskId, id }) => ({ name: `${taskName(taskId)}/pushNotificationConfigs/${id ?? ''}` }),
};

/** Requests of 0.3 over gRPC: resource names replace the ids in paths of REST. */
export const grpcRequests: Dialect['requests'] = {
  ...rest,
  // A length of 0 cannot be told from a missing one; the client removes the history itself.
  getTask: { ...rest.getTask, write: ({ id, historyLength }) => ({ name: taskName(id), historyLength }) },
  cancelTask: {
    ...rest.cancelTask,
    write: (request, losses) => {
      rest.cancelTask.write(request, losses);
      return { name: taskName(request.id) };
    },
  },
  subscribe: { ...rest.subscribe, write: ({ id }) => ({ name: taskName(id) }) },
  getPushConfig: ref,
  deletePushConfig: ref,
  listPushConfigs: {
    ...rest.listPushConfigs,
    write: ({ taskId, pageSize, pageToken }) => ({ parent: taskName(taskId), pageSize, pageToken }),
  },
};
