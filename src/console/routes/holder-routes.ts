import type { TaskStore } from '../../store/task-store.ts';
import type { ApiRoutes } from '../api-routes.ts';
import type { HolderEntry } from '../console-api.ts';

/** Route of the replicas that hold a task, in all known task stores that replicas share. */
export function holderRoutes(taskStores: () => readonly TaskStore[]): ApiRoutes {
  return {
    'GET tasks/{}/holders': async (_request, taskId = '') => {
      const found = await Promise.all(
        taskStores().map(async ({ replica }) => (await replica?.findHolders(taskId)) ?? []),
      );
      const holders = found.flat().map(({ replica, isAlive }): HolderEntry => ({ replica, isAlive }));
      return { json: holders };
    },
  };
}
