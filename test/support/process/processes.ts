import { spawnSync } from 'node:child_process';

/** Returns true if a process is running; zombies do not count. */
export function isProcessAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

/** Returns the process ids of a group, without zombies. */
export function processGroup(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-e', '-o', 'pid=,pgid=,stat='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, group, stat]) => group === String(pid) && !stat?.startsWith('Z'))
    .map(([member]) => Number(member));
}

/** Returns the process id of the parent. */
export function parentProcess(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(stdout.trim());
}
