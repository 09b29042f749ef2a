import { describeStore } from '../../../store/url/open-task-store.ts';
import { readStoreStatus, type ReplicaStatus, type StoreStatus } from '../../../store/status/store-status.ts';
import { rejectMemory } from '../../inputs/open-store.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

/** Flags of `dragoman store status`. */
export interface StoreStatusFlags {
  output: OutputFormat;
}

/** Runs `dragoman store status`. */
export async function runStoreStatusCommand(store: string, { output }: StoreStatusFlags): Promise<void> {
  const url = rejectMemory(store);
  const status = await readStoreStatus(url);
  const text =
    output === 'json'
      ? JSON.stringify(status, null, 2)
      : formatStatus(describeStore(url).replace(/^in /, ''), status);
  process.stdout.write(`${text}\n`);
}

function formatStatus(location: string, status: StoreStatus): string {
  const { replicas, tasks, orphanedTasks, push, schemaVersion } = status;
  const counts = Object.entries(tasks).map(([state, count]) => `${count} ${state}`);
  const lines = [
    `${location}, schema version ${schemaVersion}`,
    '',
    ...(replicas.length === 0 ? ['No replicas.'] : formatTable(replicas)),
    '',
    `tasks  ${counts.length === 0 ? 'none' : counts.join(', ')}`,
  ];
  if (orphanedTasks > 0)
    lines.push(`       ${orphanedTasks} unfinished without a live replica; the next one takes them over`);
  lines.push(
    `push   ${push.webhooks} active webhooks, ${push.undelivered} undelivered notifications, ${push.dead} dead`,
  );
  return lines.join('\n');
}

function formatTable(replicas: readonly ReplicaStatus[]): string[] {
  const rows = [
    ['REPLICA', 'VERSION', 'HEARTBEAT', 'LEASE', 'TASKS'],
    ...replicas.map(({ name, version = '-', heartbeatAge, lease, isAlive, heldTasks }) => [
      sanitizeForTerminal(name, 'line'),
      version,
      `${formatSeconds(heartbeatAge)} ago`,
      isAlive ? formatSeconds(lease) : 'ended',
      String(heldTasks),
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}
