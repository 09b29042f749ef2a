import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Identity of a process, as recorded in a lease. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** PID namespace in which `pid` is valid: every container has its own. */
  readonly pidNamespace: string;
  /** Start time, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Returns true if a process with this pid exists in this namespace. */
  isAlive(pid: number): boolean;
}

export const currentProcess: ProcessIdentity = {
  pid: process.pid,
  host: hostname(),
  pidNamespace: pidNamespace(),
  startedAt: Date.now() - process.uptime() * 1_000,
  isAlive(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (thrown) {
      // EPERM: the process exists but belongs to another user.
      return (thrown as NodeJS.ErrnoException).code === 'EPERM';
    }
  },
};

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has PID namespaces.
    return '';
  }
}
