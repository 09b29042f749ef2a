import type { PushDelivery, TaskStore } from '../../store/task-store.ts';

/** Selects deliveries; an empty filter selects all. */
export interface DeliveryFilter {
  taskId?: string;
  /** Id of the push configuration. */
  configId?: string;
}

function matches({ config }: PushDelivery, { taskId, configId }: DeliveryFilter): boolean {
  return (
    (taskId === undefined || config.taskId === taskId) && (configId === undefined || config.id === configId)
  );
}

/** Lists webhooks with undelivered events: pending, failing and dead letters. */
export async function listDeliveries(
  taskStore: TaskStore,
  filter: DeliveryFilter = {},
): Promise<PushDelivery[]> {
  const all = await taskStore.listDeliveries();
  return all.filter((each) => matches(each, filter) && each.state.delivered < each.sequence);
}

/** Lists dead letters: webhooks that failed too often. Their undelivered events stay in the task store. */
export async function listDeadLetters(
  taskStore: TaskStore,
  filter: DeliveryFilter = {},
): Promise<PushDelivery[]> {
  return (await taskStore.listDeliveries()).filter(
    (each) => matches(each, filter) && each.state.deadSince !== undefined,
  );
}

/**
 * Retries dead letters from the first undelivered event. A running agent notices within its `pollInterval`, any other at
 * startup.
 *
 * @returns the deliveries that are retried.
 */
export async function retryDeadLetters(
  taskStore: TaskStore,
  filter: DeliveryFilter = {},
): Promise<PushDelivery[]> {
  const retried: PushDelivery[] = [];
  for (const deadLetter of await listDeadLetters(taskStore, filter)) {
    const { owner, config } = deadLetter;
    const state = { delivered: deadLetter.state.delivered, attempts: 0 };
    if (await taskStore.putDelivery(owner, config.taskId, config.id, state))
      retried.push({ ...deadLetter, state });
  }
  return retried;
}
