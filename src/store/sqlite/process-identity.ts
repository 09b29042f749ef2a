import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** How a process is known to others that open the same file, and what it knows of them. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Within what its number means something: containers count processes on their own. */
  readonly pidSpace: string;
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** True when there is a process of that number here, this one or another. */
  isAlive(pid: number): boolean;
}

/** The process that this is. */
export const currentProcess: ProcessIdentity = {
  pid: process.pid,
  host: hostname(),
  pidSpace: pidSpace(),
  startedAt: Date.now() - process.uptime() * 1_000,
  isAlive(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (thrown) {
      // That of somebody else may not be asked, but it is there.
      return (thrown as NodeJS.ErrnoException).code === 'EPERM';
    }
  },
};

function pidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has more than one.
    return '';
  }
}
