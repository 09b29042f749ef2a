import type { Message } from '../../../protocol/message.ts';
import type { Part } from '../../../protocol/part.ts';
import { millisecondsSchema } from '../../faults/duration.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { type DataPath, resolveDataPath, parseDataPath } from './data-path.ts';
import type { TemplateScope } from './template-scope.ts';

/** Returns the value of a variable. */
type VariableLookup = (scope: TemplateScope) => unknown;

/** Compiles the path and arguments of a variable; returns an error message if they are invalid. */
type VariableParser = (path: DataPath, args: readonly string[]) => VariableLookup | string;

/** A variable without members. */
const single =
  (lookup: VariableLookup): VariableParser =>
  (path) =>
    path.length === 0 ? lookup : 'has no members';

/** A variable with fixed members; `inside` allows a path into the value of the member. */
function members(table: {
  readonly [name: string]: VariableLookup | { readonly inside: VariableLookup };
}): VariableParser {
  const known = new Map(Object.entries(table));
  return ([member, ...path]) => {
    const found = typeof member === 'string' ? known.get(member) : undefined;
    if (!found) return `must be followed by one of .${[...known.keys()].join(', .')}`;
    if (typeof found === 'function') return single(found)(path, []);
    return (scope) => resolveDataPath(found.inside(scope), path);
  };
}

/** A variable with arbitrary members. */
const dynamicMembers =
  (find: (scope: TemplateScope, name: string) => unknown): VariableParser =>
  ([name, ...path]) =>
    name === undefined
      ? 'must be followed by a name, as in state.mood'
      : (scope) => resolveDataPath(find(scope, String(name)), path);

const variables: ReadonlyMap<string, VariableParser> = new Map(
  Object.entries({
    message: members({
      text: ({ received }) => received.text,
      id: ({ received }) => received.message.messageId,
      data: { inside: ({ received }) => firstData(received.message) },
      file: { inside: ({ received }) => firstFile(received.message) },
      metadata: { inside: ({ received }) => received.message.metadata },
    }),
    request: members({ metadata: { inside: ({ received }) => received.metadata } }),
    task: members({
      id: ({ playback }) => playback.taskId,
      state: ({ received }) => received.task?.status.state,
    }),
    context: members({ id: ({ playback }) => playback.contextId }),
    principal: members({
      id: ({ received }) => received.principal?.id,
      issuer: ({ received }) => received.principal?.issuer,
      claims: { inside: ({ received }) => received.principal?.claims },
    }),
    turn: single(({ received }) => received.turn),
    skill: single(({ received }) => received.skill),
    version: single(({ received }) => received.version),
    transport: single(({ received }) => received.transport),
    operation: single(({ received }) => received.operation),
    state: dynamicMembers(({ state }, name) => state.get(name)),
    header: dynamicMembers(({ received }, name) => joinedHeader(received.headers, name)),
    match: dynamicMembers(({ match }, name) =>
      /^\d+$/.test(name) ? match?.[Number(name)] : resolveDataPath(match?.groups, [name]),
    ),
    uuid: single(({ random }) => randomUuid(random)),
    now: (path, args) => (path.length === 0 ? parseNow(args) : 'has no members'),
    random: (path, [low = '', high = '', ...more]) => {
      const isRange = [low, high].every((each) => /^-?\d{1,9}$/.test(each)) && Number(low) <= Number(high);
      if (path.length > 0 || !isRange || more.length > 0) return 'must have the form random 1 6';
      return (scope) => scope.random.between(Number(low), Number(high));
    },
    pick: (path, args) =>
      path.length > 0 || args.length === 0
        ? 'must have the form pick red green "light blue"'
        : ({ random }) => args[random.between(0, args.length - 1)],
  } satisfies Record<string, VariableParser>),
);

/** Variables that accept arguments. */
const variablesWithArguments = new Set(['now', 'random', 'pick']);

/** Resolves a variable. @returns an error message if name or arguments are invalid */
export function resolveVariable(
  name: string,
  args: readonly string[],
  hasMatch: boolean,
): VariableLookup | string {
  const [root, ...path] = parseDataPath(name) ?? [];
  const parse = variables.get(String(root));
  if (!parse) return `unknown variable ${name}; available variables: ${[...variables.keys()].join(', ')}`;
  if (root === 'match' && !hasMatch) return 'match needs a regex in when.text';
  if (args.length > 0 && !variablesWithArguments.has(String(root)))
    return `${name} has no arguments; use | before a filter`;
  const lookup = parse(path, args);
  return typeof lookup === 'string' ? `${name}: ${lookup}` : lookup;
}

/** Returns a header by case-insensitive name; multiple values are joined with `, `. */
export function joinedHeader(
  headers: TemplateScope['received']['headers'],
  name: string,
): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Variables of a file part. */
export interface FileVariables {
  readonly name: string | undefined;
  readonly media_type: string | undefined;
  readonly url: string | undefined;
  readonly base64: string | undefined;
}

/** @returns undefined if the part is not a file */
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

/** Generates a UUID version 4 from seeded random numbers. */
function randomUuid(random: SeededRandom): string {
  const digits = Array.from({ length: 32 }, () => random.between(0, 15).toString(16));
  digits[12] = '4';
  digits[16] = random.between(8, 11).toString(16);
  const text = digits.join('');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join(
    '-',
  );
}

/** Parses the format (iso, unix, ms) and the offset of `now`. */
function parseNow(args: readonly string[]): VariableLookup | string {
  let format = 'iso';
  let offset = 0;
  for (const arg of args) {
    if (arg === 'iso' || arg === 'unix' || arg === 'ms') format = arg;
    else {
      const shift = /^[+-]\d+[a-z]/.test(arg) ? millisecondsSchema.safeParse(arg.slice(1)).data : undefined;
      if (shift === undefined) return 'must have the form now, now unix, now ms or now +2h';
      offset += arg.startsWith('-') ? -shift : shift;
    }
  }
  return ({ playback }) => {
    const time = playback.now + offset;
    if (format === 'ms') return time;
    if (format === 'unix') return Math.floor(time / 1_000);
    // The maximum time value of Date; larger offsets are clamped.
    const maxTime = 8.64e15;
    return new Date(Math.max(-maxTime, Math.min(maxTime, time))).toISOString();
  };
}
