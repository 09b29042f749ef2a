import type { PushDelivery, TaskStore } from '../../store/task-store.ts';

/** Which deliveries are meant; without a word, all of them. */
export interface DeliveryFilter {
  taskId?: string;
  /** The id of the push configuration. */
  configId?: string;
}

function isMeant({ config }: PushDelivery, { taskId, configId }: DeliveryFilter): boolean {
  return (
    (taskId === undefined || config.taskId === taskId) && (configId === undefined || config.id === configId)
  );
}

/** Lists the webhooks that have not got everything: those that are behind or in trouble, and those given up. */
export async function listDeliveries(
  ledger: TaskStore,
  filter: DeliveryFilter = {},
): Promise<PushDelivery[]> {
  const all = await ledger.listDeliveries();
  return all.filter((each) => isMeant(each, filter) && each.state.delivered < each.sequence);
}

/** Lists the webhooks that were given up. What they have not got waits in the ledger. */
export async function listDeadLetters(
  ledger: TaskStore,
  filter: DeliveryFilter = {},
): Promise<PushDelivery[]> {
  return (await ledger.listDeliveries()).filter(
    (each) => isMeant(each, filter) && each.state.deadSince !== undefined,
  );
}

/**
 * Lets webhooks that were given up be tried again, from the first notification that did not arrive. A running agent
 * notices within its poll interval, any other when it starts.
 *
 * @returns those that are tried again.
 */
export async function retryDeadLetters(
  ledger: TaskStore,
  filter: DeliveryFilter = {},
): Promise<PushDelivery[]> {
  const revived: PushDelivery[] = [];
  for (const dead of await listDeadLetters(ledger, filter)) {
    const { owner, config } = dead;
    const state = { delivered: dead.state.delivered, attempts: 0 };
    if (await ledger.putDelivery(owner, config.taskId, config.id, state)) revived.push({ ...dead, state });
  }
  return revived;
}
