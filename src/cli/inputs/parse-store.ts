import { UsageError } from '../terminal/usage-error.ts';
import { parseSize } from './parse-size.ts';

/** Limits of a task store, by the name of the option in `--store`. */
const limits = {
  memory: ['maxBytes', 'maxOwnerBytes', 'maxTaskBytes', 'maxTasks'],
  sqlite: ['maxTaskBytes', 'maxFileBytes'],
} as const;

/** The parsed value of `--store`. */
export type StoreSpec =
  | { readonly kind: 'memory'; readonly limits: StoreLimits }
  | {
      readonly kind: 'sqlite';
      readonly file: string;
      readonly shared: boolean;
      readonly limits: StoreLimits;
    };

type StoreLimits = { readonly [name: string]: number };

/**
 * Parses the value of `--store`: `memory` or `sqlite:FILE`, with options after a question mark.
 *
 * @throws {@link UsageError}
 */
export function parseStore(text: string): StoreSpec {
  const queryStart = text.indexOf('?');
  const location = queryStart < 0 ? text : text.slice(0, queryStart);
  const options = queryStart < 0 ? [] : text.slice(queryStart + 1).split('&');
  if (location === 'memory') return { kind: 'memory', limits: parseLimits(options, 'memory') };
  const file = location.startsWith('sqlite:') ? location.slice('sqlite:'.length) : '';
  if (file === '')
    throw new UsageError(
      `Invalid task store "${text}"`,
      'Use --store memory or --store sqlite:FILE, such as --store sqlite:tasks.db.',
    );
  const shared = options.includes('shared');
  const rest = options.filter((option) => option !== 'shared');
  return { kind: 'sqlite', file, shared, limits: parseLimits(rest, 'sqlite') };
}

function parseLimits(options: readonly string[], kind: 'memory' | 'sqlite'): StoreLimits {
  const names: readonly string[] = limits[kind];
  return Object.fromEntries(
    options.map((option) => {
      const [name = '', value = ''] = option.split('=', 2);
      const size = names.includes(name) ? parseSize(value) : undefined;
      if (size !== undefined && size > 0) return [name, size];
      throw new UsageError(
        `Invalid option "${option}" of the task store`,
        `Options of ${kind}: ${[...(kind === 'sqlite' ? ['shared'] : []), ...names.map((each) => `${each}=SIZE`)].join(', ')}. A size is a number, with kb, mb or gb for bytes.`,
      );
    }),
  );
}
