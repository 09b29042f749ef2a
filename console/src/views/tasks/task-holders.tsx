import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { HolderEntry } from '../../../../src/console/console-api.ts';
import { requestJson } from '../../session/api-client.ts';

/** Milliseconds between two reads: another replica may take the task over at any time. */
const interval = 2_000;

/** The replica that holds a task, as a row of its facts. */
export function TaskHolders({ taskId, isActive }: { taskId: string; isActive: boolean }) {
  const holders = useSignal<readonly HolderEntry[] | undefined>(undefined);
  useEffect(() => {
    const read = async (): Promise<void> => {
      try {
        holders.value = await requestJson<HolderEntry[]>(`tasks/${encodeURIComponent(taskId)}/holders`);
      } catch {
        holders.value = undefined;
      }
    };
    void read();
    if (!isActive) return undefined;
    const timer = setInterval(() => void read(), interval);
    return () => clearInterval(timer);
  }, [taskId, isActive]);
  return (
    <>
      <dt>Replica</dt>
      <dd aria-live="polite">{describeHolders(holders.value)}</dd>
    </>
  );
}

function describeHolders(holders: readonly HolderEntry[] | undefined): string {
  if (holders === undefined) return 'unknown';
  const names = holders.flatMap(({ replica, isAlive }) =>
    replica === undefined ? [] : [isAlive ? replica : `${replica} (its lease has ended)`],
  );
  return names.length === 0 ? 'none' : names.join(', ');
}
