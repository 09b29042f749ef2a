import { existsSync } from 'node:fs';
import { checkSqliteFile, type FileCheck } from '../../../store/sqlite/check-file.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';

/** Flags of `dragoman store check`. */
export interface StoreCheckFlags {
  repair: boolean;
  output: OutputFormat;
}

/** Runs `dragoman store check`. */
export async function runStoreCheckCommand(file: string, flags: StoreCheckFlags): Promise<void> {
  // Opening a missing file would create it.
  if (!existsSync(file))
    throw new UsageError(`File not found: ${file}`, 'Name the file that the agent is served with.');
  const check = await checkSqliteFile(file, flags.repair);
  const text = flags.output === 'json' ? JSON.stringify(check, null, 2) : formatCheck(file, check);
  process.stdout.write(`${text}\n`);
  if (check.structure.length > 0 || (check.damaged.length > 0 && !check.isRepaired)) process.exitCode = 1;
}

function formatCheck(file: string, { rows, damaged, structure, isRepaired }: FileCheck): string {
  const lines = structure.map((problem) => `structure: ${problem}`);
  for (const { table, key, problem } of damaged) lines.push(`${table} ${key}: ${problem}`);
  const count = `${damaged.length} damaged of ${rows} rows`;
  if (structure.length > 0) lines.push(`${file}: the structure is damaged; restore a backup. ${count}`);
  else if (isRepaired) lines.push(`${file}: ${count} moved to the quarantine tables`);
  else if (damaged.length > 0) lines.push(`${file}: ${count}. Run again with --repair to move them.`);
  else lines.push(`${file}: no damage in ${rows} rows`);
  return lines.join('\n');
}
