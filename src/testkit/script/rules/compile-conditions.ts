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
  return [
    ...messageConditions(spec, path, report),
    ...callConditions(spec, path, report),
    ...conversationConditions(spec),
  ];
}

function messageConditions(spec: ConditionsSpec, path: DocumentPath, report: Report): Condition[] {
  const conditions: Condition[] = [];
  const { text, message_id: messageId, data, metadata, file } = spec;
  if (text !== undefined)
    conditions.push(
      textCondition(
        'text',
        ({ received }) => received.text,
        new TextMatcher(text, [...path, 'text'], report),
      ),
    );
  if (messageId !== undefined) {
    const matcher = new TextMatcher(messageId, [...path, 'message_id'], report);
    conditions.push(textCondition('message_id', ({ received }) => received.message.messageId, matcher));
  }
  const dataValues = ({ received }: ConditionInput): unknown[] =>
    received.message.parts.flatMap((part) => ('data' in part ? [part.data] : []));
  for (const [each, at] of withPaths(data, [...path, 'data']))
    conditions.push(createDataMatcher('data', each, dataValues, at, report));
  const metadataValues = ({ received }: ConditionInput): unknown[] =>
    [received.message.metadata, received.metadata].filter((each) => each !== undefined);
  for (const [each, at] of withPaths(metadata, [...path, 'metadata']))
    conditions.push(createDataMatcher('metadata', each, metadataValues, at, report));
  if (file !== undefined) conditions.push(fileCondition(file, [...path, 'file'], report));
  return conditions;
}

function callConditions(spec: ConditionsSpec, path: DocumentPath, report: Report): Condition[] {
  const conditions: Condition[] = [];
  const { skill, principal, header = {}, version, transport, operation } = spec;
  if (skill !== undefined) {
    const matcher = new TextMatcher(skill, [...path, 'skill'], report);
    conditions.push(textCondition('skill', ({ received }) => received.skill, matcher));
  }
  for (const [name, match] of Object.entries(header)) {
    const matcher = new TextMatcher(match, [...path, 'header', name], report);
    conditions.push(
      textCondition(`header ${name}`, ({ received }) => joinedHeader(received.headers, name), matcher),
    );
  }
  if (principal !== undefined) {
    const matcher = new TextMatcher(principal, [...path, 'principal'], report);
    conditions.push(textCondition('principal', ({ received }) => received.principal?.id, matcher));
  }
  if (version !== undefined)
    conditions.push(enumCondition('version', version, ({ received }) => received.version));
  if (transport !== undefined)
    conditions.push(enumCondition('transport', transport, ({ received }) => received.transport));
  if (operation !== undefined)
    conditions.push(enumCondition('operation', operation, ({ received }) => received.operation));
  return conditions;
}

function conversationConditions({ turn, state = {}, task_state: taskState }: ConditionsSpec): Condition[] {
  const conditions: Condition[] = [];
  if (turn !== undefined) {
    const { from = 0, to = Number.POSITIVE_INFINITY } =
      typeof turn === 'number' ? { from: turn, to: turn } : turn;
    conditions.push({
      name: 'turn',
      expected: from === to ? String(from) : `${from} to ${to === Number.POSITIVE_INFINITY ? 'any' : to}`,
      matches: ({ received }) => received.turn >= from && received.turn <= to,
      actual: ({ received }) => String(received.turn),
    });
  }
  for (const [name, value] of Object.entries(state)) {
    conditions.push({
      name: `state ${name}`,
      expected: value === null ? 'not to be set' : quoteValue(value),
      matches: (input) => isDeepStrictEqual(input.state.get(name) ?? null, value),
      actual: (input) => quoteValue(input.state.get(name)),
    });
  }
  if (taskState !== undefined)
    conditions.push(
      enumCondition('task_state', taskState, ({ received }) => received.task?.status.state ?? 'none'),
    );
  return conditions;
}

function textCondition(
  name: string,
  read: (input: ConditionInput) => string | undefined,
  matcher: TextMatcher,
): Condition {
  return {
    name,
    expected: matcher.expected,
    matches: (input) => matcher.matches(read(input)),
    actual: (input) => quoteValue(read(input)),
  };
}

function enumCondition(
  name: string,
  allowed: string | readonly string[],
  read: (input: ConditionInput) => string | undefined,
): Condition {
  const all = [allowed].flat();
  return {
    name,
    expected: all.join(' or '),
    matches: (input) => all.includes(read(input) ?? ''),
    actual: (input) => read(input) ?? 'missing',
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
