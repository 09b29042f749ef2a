import type { Command } from 'commander';
import { quoteShellWord } from '../terminal/quote-shell-word.ts';

/** Flags without secrets that another command needs to reach the same agent. */
const connectionFlags: ReadonlySet<string> = new Set([
  '--a2a-version',
  '--transport',
  '--extension',
  '--credential-origin',
  '--insecure',
  '--ca',
  '--client-cert',
  '--client-key',
  '--card-keys',
  '--config',
]);

/** Returns those flags of a command line that a command for the same agent must repeat. */
export function repeatedFlags(command: Command): string {
  const words: string[] = [];
  for (const option of command.options) {
    const { long } = option;
    const key = option.attributeName();
    if (!long || !connectionFlags.has(long) || command.getOptionValueSource(key) !== 'cli') continue;
    const value: unknown = command.getOptionValue(key);
    if (value === true) words.push(long);
    else for (const each of [value].flat()) words.push(long, quoteShellWord(String(each)));
  }
  return words.map((word) => ` ${word}`).join('');
}
