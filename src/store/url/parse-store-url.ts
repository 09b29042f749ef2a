import { A2AError } from '../../protocol/errors.ts';
import { parseSize } from '../../primitives/formats/parse-size.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Limits of a task store, by the name of the option in its URL. */
const limits = {
  memory: ['maxBytes', 'maxOwnerBytes', 'maxTaskBytes', 'maxTasks'],
  sqlite: ['maxTaskBytes', 'maxFileBytes'],
} as const;

/** A parsed URL of a store. */
export type StoreUrl =
  | { readonly kind: 'memory'; readonly limits: StoreLimits }
  | {
      readonly kind: 'sqlite';
      readonly file: string;
      readonly shared: boolean;
      readonly limits: StoreLimits;
    }
  /** `location` is the URL without credentials. */
  | { readonly kind: 'postgres'; readonly url: string; readonly schema?: string; readonly location: string };

type StoreLimits = { readonly [name: string]: number };

/**
 * Parses the URL of a store: `memory`, `sqlite:FILE` or `postgres://…`, with options after a question mark.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` with a hint
 */
export function parseStoreUrl(text: string): StoreUrl {
  if (/^postgres(ql)?:\/\//.test(text)) return parsePostgres(text);
  const queryStart = text.indexOf('?');
  const location = queryStart < 0 ? text : text.slice(0, queryStart);
  const options = queryStart < 0 ? [] : text.slice(queryStart + 1).split('&');
  if (location === 'memory') return { kind: 'memory', limits: parseLimits(options, 'memory') };
  const file = location.startsWith('sqlite:') ? location.slice('sqlite:'.length) : '';
  if (file === '')
    throw invalidUrl(
      `Invalid task store "${text}"`,
      'Use memory, sqlite:FILE such as sqlite:tasks.db, or postgres://USER@HOST/DATABASE.',
    );
  const shared = options.includes('shared');
  const rest = options.filter((option) => option !== 'shared');
  return { kind: 'sqlite', file, shared, limits: parseLimits(rest, 'sqlite') };
}

/** The option `schema` is ours; all others are for the library. */
function parsePostgres(text: string): StoreUrl {
  const url = parseUrl(text);
  if (!url || url.hostname === '' || url.pathname.length < 2)
    throw invalidUrl(
      'Invalid URL of a PostgreSQL database',
      'Use postgres://USER:PASSWORD@HOST:PORT/DATABASE, with ?schema=NAME for another schema than dragoman.',
    );
  const schema = url.searchParams.get('schema');
  url.searchParams.delete('schema');
  return {
    kind: 'postgres',
    url: url.href,
    ...(schema !== null && { schema }),
    location: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

function parseLimits(options: readonly string[], kind: 'memory' | 'sqlite'): StoreLimits {
  const names: readonly string[] = limits[kind];
  return Object.fromEntries(
    options.map((option) => {
      const [name = '', value = ''] = option.split('=', 2);
      const size = names.includes(name) ? parseSize(value) : undefined;
      if (size !== undefined && size > 0) return [name, size];
      throw invalidUrl(
        `Invalid option "${option}" of the task store`,
        `Options of ${kind}: ${[...(kind === 'sqlite' ? ['shared'] : []), ...names.map((each) => `${each}=SIZE`)].join(', ')}. A size is a number, with kb, mb or gb for bytes.`,
      );
    }),
  );
}

function invalidUrl(message: string, hint: string): A2AError {
  return new A2AError('INVALID_PARAMS', message, { hint });
}
