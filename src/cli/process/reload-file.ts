import { DocumentError } from '../../documents/diagnostic.ts';
import type { ReloadResult } from '../../gateway/run-gateway.ts';
import type { LogSink } from '../../primitives/log.ts';
import { printDiagnostics } from '../terminal/print-diagnostics.ts';

/** Reloads a configuration file and logs the result of `reload`. An invalid file changes nothing. */
export async function reloadFile(file: string, log: LogSink, reload: () => Promise<string>): Promise<void> {
  try {
    log({ level: 'info', message: `Reloaded ${file}${await reload()}` });
  } catch (error) {
    const isInvalid = error instanceof DocumentError;
    if (isInvalid) printDiagnostics(error, process.stderr);
    const message = `Cannot reload ${file}; the previous configuration stays active`;
    log({ level: 'error', message, ...(!isInvalid && { error }) });
  }
}

/** Formats the changed agents, such as `: +new -removed ~changed`. */
export function formatChanges({ added, removed, changed }: ReloadResult): string {
  const changes = [
    ...added.map((name) => `+${name}`),
    ...removed.map((name) => `-${name}`),
    ...changed.map((name) => `~${name}`),
  ];
  return `: ${changes.join(' ') || 'no agent changed'}`;
}
