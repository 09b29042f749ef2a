import { spawnSync } from 'node:child_process';

/** True while a process runs; one that ended and was not yet missed does not. */
export function isProcessAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

/** The numbers of all processes in a group that run. */
export function processGroup(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-e', '-o', 'pid=,pgid=,stat='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, group, stat]) => group === String(pid) && !stat?.startsWith('Z'))
    .map(([member]) => Number(member));
}

/** The number of the process that started another. */
export function parentProcess(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(stdout.trim());
}
