/** Returns true if a process exists. */
export function isRunning(pid: number): boolean {
  // 0 and negative numbers are process groups.
  if (pid <= 0) throw new RangeError(`${pid} is not a process id`);
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
