// Finds running programs, so that a build does not replace files that they load later.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';

/**
 * Lists the processes that run a file of a folder. Works on Linux; returns an empty list on other systems.
 * @returns {{ pid: number, command: string }[]}
 */
export function processesUsing(folder) {
  const inside = `${realPath(folder) ?? resolve(folder)}${sep}`;
  return listProcesses().filter(({ cwd, args }) =>
    args.some((arg) => arg.includes('/') && realPath(resolve(cwd, arg))?.startsWith(inside)),
  );
}

function listProcesses() {
  let names;
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
        return [{ pid: Number(pid), cwd: readlinkSync(`/proc/${pid}/cwd`), args, command: args.join(' ') }];
      } catch {
        // The process has ended, or belongs to another user.
        return [];
      }
    });
}

function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
