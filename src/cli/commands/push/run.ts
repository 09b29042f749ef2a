import { existsSync } from 'node:fs';
import type { PushDelivery, TaskStore } from '../../../store/task-store.ts';
import { type DeliveryFilter, listDeliveries, retryDeadLetters } from '../../../push/sending/dead-letters.ts';
import { stripQuery } from '../../../push/sending/signer.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { openForeignStore } from '../../inputs/open-store.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';

/** Flags of `dragoman push list` and `dragoman push retry`. */
export interface PushFlags {
  store: string;
  taskId?: string;
  configId?: string;
  output: OutputFormat;
}

/** Runs `dragoman push list`. */
export async function runPushListCommand(flags: PushFlags): Promise<void> {
  await withStore(flags.store, async (taskStore) => {
    const deliveries = await listDeliveries(taskStore, toFilter(flags));
    print(deliveries, flags, 'No pending, failing or dead deliveries.');
  });
}

/** Runs `dragoman push retry`. */
export async function runPushRetryCommand(flags: PushFlags): Promise<void> {
  await withStore(flags.store, async (taskStore) => {
    const retried = await retryDeadLetters(taskStore, toFilter(flags));
    print(retried, flags, 'No dead deliveries to retry.');
  });
}

function toFilter({ taskId, configId }: PushFlags): DeliveryFilter {
  return { taskId, configId };
}

async function withStore(store: string, work: (taskStore: TaskStore) => Promise<void>): Promise<void> {
  const file = /^sqlite:(.+)$/.exec(store)?.[1];
  // Opening a missing file would create it.
  if (file !== undefined && !existsSync(file))
    throw new UsageError(`File not found: ${file}`, 'Name the file that the agent is served with.');
  const { taskStore } = await openForeignStore(store);
  try {
    await work(taskStore);
  } finally {
    await taskStore[Symbol.asyncDispose]();
  }
}

function print(deliveries: readonly PushDelivery[], { output }: PushFlags, ifNone: string): void {
  if (output === 'json') process.stdout.write(`${JSON.stringify(deliveries.map(toRow), null, 2)}\n`);
  else if (deliveries.length === 0) process.stdout.write(`${ifNone}\n`);
  else for (const delivery of deliveries) process.stdout.write(`${formatDelivery(delivery)}\n`);
}

/** Returns a delivery for JSON output, without the secrets of the webhook. */
function toRow({ owner, config, state, sequence }: PushDelivery): object {
  const { taskId, id: configId, url } = config;
  return { status: deliveryStatus(state), owner, taskId, configId, url: stripQuery(url), sequence, ...state };
}

function formatDelivery({ config, state, sequence }: PushDelivery): string {
  const { delivered, attempts, error, retryAt, deadSince } = state;
  const facts = [`${delivered} of ${sequence} delivered`];
  if (attempts > 0) facts.push(`${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} failed`);
  if (deadSince !== undefined) facts.push(`dead since ${deadSince}`);
  else if (retryAt !== undefined) facts.push(`next attempt ${retryAt}`);
  const cause = error === undefined ? '' : `: ${error}`;
  const target = `task ${config.taskId} config ${config.id} ${stripQuery(config.url)}`;
  return `${deliveryStatus(state).padEnd(8)} ${target} (${facts.join(', ')})${cause}`;
}

function deliveryStatus({ attempts, deadSince }: PushDelivery['state']): 'dead' | 'retrying' | 'pending' {
  if (deadSince !== undefined) return 'dead';
  return attempts > 0 ? 'retrying' : 'pending';
}
