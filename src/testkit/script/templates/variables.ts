import type { Message } from '../../../protocol/message.ts';
import type { Part } from '../../../protocol/part.ts';
import { millisecondsSchema } from '../../faults/duration.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { type DataPath, resolveDataPath, parseDataPath } from './data-path.ts';
import type { TemplateScope } from './template-scope.ts';

/** Gives the value of a name. */
type Lookup = (scope: TemplateScope) => unknown;

/** Reads what follows a name; a text says what is wrong with it. */
type Reader = (path: DataPath, words: readonly string[]) => Lookup | string;

/** A name with nothing behind it. */
const single =
  (lookup: Lookup): Reader =>
  (path) =>
    path.length === 0 ? lookup : 'nothing is inside of it';

/** A name with one of a few others behind it, each with or without a way further in. */
function members(table: { readonly [name: string]: Lookup | { readonly inside: Lookup } }): Reader {
  const known = new Map(Object.entries(table));
  return ([member, ...path]) => {
    const found = typeof member === 'string' ? known.get(member) : undefined;
    if (!found) return `has to be followed by one of .${[...known.keys()].join(', .')}`;
    if (typeof found === 'function') return single(found)(path, []);
    return (scope) => resolveDataPath(found.inside(scope), path);
  };
}

/** A name with a way of the tester's own behind it. */
const open =
  (find: (scope: TemplateScope, name: string) => unknown): Reader =>
  ([name, ...path]) =>
    name === undefined
      ? 'has to be followed by a name, as in state.mood'
      : (scope) => resolveDataPath(find(scope, String(name)), path);

const readers: ReadonlyMap<string, Reader> = new Map(
  Object.entries({
    message: members({
      text: ({ incoming }) => incoming.text,
      id: ({ incoming }) => incoming.message.messageId,
      data: { inside: ({ incoming }) => firstData(incoming.message) },
      file: { inside: ({ incoming }) => firstFile(incoming.message) },
      metadata: { inside: ({ incoming }) => incoming.message.metadata },
    }),
    request: members({ metadata: { inside: ({ incoming }) => incoming.metadata } }),
    task: members({
      id: ({ moment }) => moment.taskId,
      state: ({ incoming }) => incoming.task?.status.state,
    }),
    context: members({ id: ({ moment }) => moment.contextId }),
    principal: members({
      id: ({ incoming }) => incoming.principal?.id,
      issuer: ({ incoming }) => incoming.principal?.issuer,
      claims: { inside: ({ incoming }) => incoming.principal?.claims },
    }),
    turn: single(({ incoming }) => incoming.turn),
    skill: single(({ incoming }) => incoming.skill),
    version: single(({ incoming }) => incoming.version),
    transport: single(({ incoming }) => incoming.transport),
    operation: single(({ incoming }) => incoming.operation),
    state: open(({ state }, name) => state.get(name)),
    header: open(({ incoming }, name) => joinedHeader(incoming.headers, name)),
    match: open(({ match }, name) =>
      /^\d+$/.test(name) ? match?.[Number(name)] : resolveDataPath(match?.groups, [name]),
    ),
    uuid: single(({ random }) => uuidOf(random)),
    now: (path, words) => (path.length === 0 ? momentOf(words) : 'nothing is inside of it'),
    random: (path, [low = '', high = '', ...more]) => {
      const isRange = [low, high].every((each) => /^-?\d{1,9}$/.test(each)) && Number(low) <= Number(high);
      if (path.length > 0 || !isRange || more.length > 0) return 'write it as random 1 6';
      return (scope) => scope.random.between(Number(low), Number(high));
    },
    pick: (path, words) =>
      path.length > 0 || words.length === 0
        ? 'write it as pick red green "light blue"'
        : ({ random }) => words[random.between(0, words.length - 1)],
  } satisfies Record<string, Reader>),
);

/** Names that take words behind them. */
const wordy = new Set(['now', 'random', 'pick']);

/** Finds what a name stands for. @returns what is wrong, when something is. */
export function resolveVariable(name: string, words: readonly string[], hasMatch: boolean): Lookup | string {
  const [root, ...path] = parseDataPath(name) ?? [];
  const reader = readers.get(String(root));
  if (!reader) return `there is no ${name}; there are ${[...readers.keys()].join(', ')}`;
  if (root === 'match' && !hasMatch)
    return 'there is no regex in when.text that could have matched something';
  if (words.length > 0 && !wordy.has(String(root)))
    return `${name} takes nothing behind it; use | before a filter`;
  const lookup = reader(path, words);
  return typeof lookup === 'string' ? `${name}: ${lookup}` : lookup;
}

/** A header by its name in any case; several are joined as HTTP joins them. */
export function joinedHeader(
  headers: TemplateScope['incoming']['headers'],
  name: string,
): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}

/** What a script may know of a file. */
export interface FileVariables {
  readonly name: string | undefined;
  readonly media_type: string | undefined;
  readonly url: string | undefined;
  readonly base64: string | undefined;
}

/** What there is to know of a part that is a file. @returns undefined when it is none. */
export function fileVariables(part: Part): FileVariables | undefined {
  if (!('raw' in part) && !('url' in part)) return undefined;
  return {
    name: part.filename,
    media_type: part.mediaType,
    url: 'url' in part ? part.url : undefined,
    base64: 'raw' in part ? part.raw : undefined,
  };
}

function firstFile(message: Message): FileVariables | undefined {
  for (const part of message.parts) {
    const file = fileVariables(part);
    if (file) return file;
  }
  return undefined;
}

function firstData(message: Message): unknown {
  return message.parts.find((part) => 'data' in part)?.data;
}

/** A version 4 UUID out of numbers that only look random. */
function uuidOf(random: SeededRandom): string {
  const digits = Array.from({ length: 32 }, () => random.between(0, 15).toString(16));
  digits[12] = '4';
  digits[16] = random.between(8, 11).toString(16);
  const text = digits.join('');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join(
    '-',
  );
}

/** The time, with what was said of it: how it is written, and how far from now. */
function momentOf(words: readonly string[]): Lookup | string {
  let form = 'iso';
  let offset = 0;
  for (const word of words) {
    if (word === 'iso' || word === 'unix' || word === 'ms') form = word;
    else {
      const shift = /^[+-]\d+[a-z]/.test(word) ? millisecondsSchema.safeParse(word.slice(1)).data : undefined;
      if (shift === undefined) return 'write it as now, now unix, now ms or now +2h';
      offset += word.startsWith('-') ? -shift : shift;
    }
  }
  return ({ moment }) => {
    const at = moment.now + offset;
    if (form === 'ms') return at;
    if (form === 'unix') return Math.floor(at / 1_000);
    // The last moment that can be written; further offsets stay there.
    const last = 8.64e15;
    return new Date(Math.max(-last, Math.min(last, at))).toISOString();
  };
}
