import { isDeepStrictEqual } from 'node:util';
import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { ReceivedMessage } from '../../agent/response-plan.ts';
import { createDataMatcher } from './data-matcher.ts';
import type { ConditionsSpec } from '../schema/condition-schema.ts';
import type { ConversationState } from './conversation-state.ts';
import { fileVariables, joinedHeader } from '../templates/variables.ts';
import { quoteValue } from '../templates/text-format.ts';
import { TextMatcher } from './text-matcher.ts';

/** Values that conditions can match. */
export interface ConditionInput {
  readonly received: ReceivedMessage;
  readonly state: ConversationState;
}

/** One condition of a rule. */
export interface Condition {
  readonly name: string;
  /** Continues the phrase `expected …`. */
  readonly expected: string;
  matches(input: ConditionInput): boolean;
  /** Continues the phrase `was …`. */
  actual(input: ConditionInput): string;
}

type Report = (path: DocumentPath, message: string) => void;

/** Compiles the `when` section of a rule. */
export function compileConditions(spec: ConditionsSpec, path: DocumentPath, report: Report): Condition[] {
  const text = (
    key: 'text' | 'message_id' | 'skill' | 'principal',
    read: (received: ReceivedMessage) => string | undefined,
  ): Condition[] => {
    const match = spec[key];
    return match === undefined
      ? []
      : [textCondition(key, read, new TextMatcher(match, [...path, key], report))];
  };
  const anyOf = (
    key: 'version' | 'transport' | 'operation' | 'task_state',
    read: (received: ReceivedMessage) => string | undefined,
  ): Condition[] => {
    const allowed = spec[key];
    return allowed === undefined ? [] : [enumCondition(key, [allowed].flat(), read)];
  };
  const data = (key: 'data' | 'metadata', read: (received: ReceivedMessage) => unknown[]): Condition[] =>
    [...withPaths(spec[key], [...path, key])].map(([each, at]) =>
      createDataMatcher(key, each, ({ received }) => read(received), at, report),
    );
  return [
    ...text('text', (received) => received.text),
    ...text('message_id', ({ message }) => message.messageId),
    ...data('data', ({ message }) => message.parts.flatMap((part) => ('data' in part ? [part.data] : []))),
    ...data('metadata', ({ message, metadata }) =>
      [message.metadata, metadata].filter((each) => each !== undefined),
    ),
    ...(spec.file === undefined ? [] : [fileCondition(spec.file, [...path, 'file'], report)]),
    ...text('skill', ({ skill }) => skill),
    ...Object.entries(spec.header ?? {}).map(([name, match]) =>
      textCondition(
        `header ${name}`,
        ({ headers }) => joinedHeader(headers, name),
        new TextMatcher(match, [...path, 'header', name], report),
      ),
    ),
    ...text('principal', ({ principal }) => principal?.id),
    ...anyOf('version', ({ version }) => version),
    ...anyOf('transport', ({ transport }) => transport),
    ...anyOf('operation', ({ operation }) => operation),
    ...(spec.turn === undefined ? [] : [turnCondition(spec.turn)]),
    ...Object.entries(spec.state ?? {}).map(([name, value]) => stateCondition(name, value)),
    ...anyOf('task_state', ({ task }) => task?.status.state ?? 'none'),
  ];
}

function turnCondition(turn: NonNullable<ConditionsSpec['turn']>): Condition {
  const { from = 0, to = Number.POSITIVE_INFINITY } =
    typeof turn === 'number' ? { from: turn, to: turn } : turn;
  return {
    name: 'turn',
    expected: from === to ? String(from) : `${from} to ${to === Number.POSITIVE_INFINITY ? 'any' : to}`,
    matches: ({ received }) => received.turn >= from && received.turn <= to,
    actual: ({ received }) => String(received.turn),
  };
}

function stateCondition(name: string, value: unknown): Condition {
  return {
    name: `state ${name}`,
    expected: value === null ? 'not to be set' : quoteValue(value),
    matches: ({ state }) => isDeepStrictEqual(state.get(name) ?? null, value),
    actual: ({ state }) => quoteValue(state.get(name)),
  };
}

function textCondition(
  name: string,
  read: (received: ReceivedMessage) => string | undefined,
  matcher: TextMatcher,
): Condition {
  return {
    name,
    expected: matcher.expected,
    matches: ({ received }) => matcher.matches(read(received)),
    actual: ({ received }) => quoteValue(read(received)),
  };
}

function enumCondition(
  name: string,
  allowed: readonly string[],
  read: (received: ReceivedMessage) => string | undefined,
): Condition {
  return {
    name,
    expected: allowed.join(' or '),
    matches: ({ received }) => allowed.includes(read(received) ?? ''),
    actual: ({ received }) => read(received) ?? 'missing',
  };
}

function fileCondition(
  spec: NonNullable<ConditionsSpec['file']>,
  path: DocumentPath,
  report: Report,
): Condition {
  const { media_type: type, name, content } = spec;
  const matcher = name === undefined ? undefined : new TextMatcher(name, [...path, 'name'], report);
  const findFiles = ({ received }: ConditionInput) =>
    received.message.parts.flatMap((part) => fileVariables(part) ?? []);
  const expected = [
    'a file',
    ...(type === undefined ? [] : [`of type ${type}`]),
    ...(matcher ? [`with a name ${matcher.expected}`] : []),
    ...(content === undefined ? [] : [`with ${content} content`]),
  ].join(' ');
  return {
    name: 'file',
    expected,
    matches: (input) =>
      findFiles(input).some(
        (file) =>
          (type === undefined || matchesMediaType(file.media_type, type)) &&
          (matcher === undefined || matcher.matches(file.name)) &&
          (content === undefined || (content === 'url') === (file.url !== undefined)),
      ),
    actual: (input) => {
      const files = findFiles(input).map(
        ({ name, media_type }) => `${quoteValue(name)} of type ${media_type ?? 'unknown'}`,
      );
      return files.length > 0 ? files.slice(0, 3).join(', ') : 'none';
    },
  };
}

function matchesMediaType(actual: string | undefined, expected: string): boolean {
  const [bare = ''] = (actual ?? '').toLowerCase().split(';');
  const pattern = expected.toLowerCase();
  return pattern.endsWith('/*') ? bare.trim().startsWith(pattern.slice(0, -1)) : bare.trim() === pattern;
}

function* withPaths<Item>(
  value: Item | Item[] | undefined,
  path: DocumentPath,
): Generator<[Item, DocumentPath]> {
  if (Array.isArray(value)) for (const [index, each] of value.entries()) yield [each, [...path, index]];
  else if (value !== undefined) yield [value, path];
}
