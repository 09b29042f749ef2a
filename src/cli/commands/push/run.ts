import { existsSync } from 'node:fs';
import type { PushDelivery, TaskStore } from '../../../store/task-store.ts';
import { type DeliveryFilter, listDeliveries, retryDeadLetters } from '../../../push/sending/dead-letters.ts';
import { stripQuery } from '../../../push/sending/signer.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { openStore } from '../../inputs/open-store.ts';

/** What `dragoman push list` and `dragoman push retry` are told. */
export interface PushFlags {
  store: string;
  task?: string;
  config?: string;
  output: 'text' | 'json';
}

/** Prints the notifications that have not arrived. */
export async function runPushListCommand(flags: PushFlags): Promise<void> {
  await withLedger(flags.store, async (ledger) => {
    const deliveries = await listDeliveries(ledger, filterOf(flags));
    print(deliveries, flags, 'Everything has arrived.');
  });
}

/** Lets webhooks that were given up be tried again, and prints which. */
export async function runPushRetryCommand(flags: PushFlags): Promise<void> {
  await withLedger(flags.store, async (ledger) => {
    const revived = await retryDeadLetters(ledger, filterOf(flags));
    print(revived, flags, 'There is nothing to retry: no such webhook was given up.');
  });
}

function filterOf({ task, config }: PushFlags): DeliveryFilter {
  return { taskId: task, configId: config };
}

async function withLedger(store: string, use: (ledger: TaskStore) => Promise<void>): Promise<void> {
  const file = /^sqlite:(.+)$/.exec(store)?.[1];
  if (store === 'memory') {
    throw new UsageError(
      'what is in the memory of an agent cannot be seen from here',
      'Serve the agent with --store sqlite:FILE, and name that file here.',
    );
  }
  // Opening it would make it.
  if (file !== undefined && !existsSync(file)) {
    throw new UsageError(`there is no file ${file}`, 'Give the file that the agent is served with.');
  }
  const { ledger } = await openStore(store, { withoutLease: true });
  try {
    await use(ledger);
  } finally {
    await ledger[Symbol.asyncDispose]();
  }
}

function print(deliveries: readonly PushDelivery[], { output }: PushFlags, ifNone: string): void {
  if (output === 'json') process.stdout.write(`${JSON.stringify(deliveries.map(rowOf), null, 2)}\n`);
  else if (deliveries.length === 0) process.stdout.write(`${ifNone}\n`);
  else for (const delivery of deliveries) process.stdout.write(`${lineOf(delivery)}\n`);
}

/** What programs are told. The secrets of the webhook are not among it. */
function rowOf({ owner, config, state, sequence }: PushDelivery): object {
  const { taskId, id: configId, url } = config;
  return { status: statusOf(state), owner, taskId, configId, url: stripQuery(url), sequence, ...state };
}

function lineOf({ config, state, sequence }: PushDelivery): string {
  const { delivered, attempts, error, retryAt, deadSince } = state;
  const facts = [`${delivered} of ${sequence} arrived`];
  if (attempts > 0) facts.push(`${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} failed`);
  if (deadSince !== undefined) facts.push(`given up ${deadSince}`);
  else if (retryAt !== undefined) facts.push(`next ${retryAt}`);
  const cause = error === undefined ? '' : `: ${error}`;
  const place = `task ${config.taskId} config ${config.id} ${stripQuery(config.url)}`;
  return `${statusOf(state).padEnd(8)} ${place} (${facts.join(', ')})${cause}`;
}

function statusOf({ attempts, deadSince }: PushDelivery['state']): 'dead' | 'retrying' | 'pending' {
  if (deadSince !== undefined) return 'dead';
  return attempts > 0 ? 'retrying' : 'pending';
}
