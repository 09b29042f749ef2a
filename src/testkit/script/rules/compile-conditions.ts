import { isDeepStrictEqual } from 'node:util';
import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { ReceivedMessage } from '../../agent/response-plan.ts';
import { createDataMatcher } from './data-matcher.ts';
import type { ConditionsSpec } from '../schema/condition-schema.ts';
import type { ConversationState } from './conversation-state.ts';
import { fileVariables, joinedHeader } from '../templates/variables.ts';
import { quoteValue } from '../templates/text-format.ts';
import { TextMatcher } from './text-matcher.ts';

/** What a condition may look at. */
export interface ConditionInput {
  readonly incoming: ReceivedMessage;
  readonly state: ConversationState;
}

/** One thing that must be so for a rule to match. */
export interface Condition {
  readonly name: string;
  /** In words that follow `expected`. */
  readonly expected: string;
  holds(seen: ConditionInput): boolean;
  /** What there was, in words that follow `was`. */
  actual(seen: ConditionInput): string;
}

type Complain = (path: DocumentPath, message: string) => void;

/** Reads what a rule looks at. */
export function compileConditions(form: ConditionsSpec, path: DocumentPath, complain: Complain): Condition[] {
  return [
    ...aboutMessage(form, path, complain),
    ...aboutCall(form, path, complain),
    ...aboutConversation(form),
  ];
}

function aboutMessage(form: ConditionsSpec, path: DocumentPath, complain: Complain): Condition[] {
  const found: Condition[] = [];
  const { text, message_id: messageId, data, metadata, file } = form;
  if (text !== undefined)
    found.push(
      textual('text', ({ incoming }) => incoming.text, new TextMatcher(text, [...path, 'text'], complain)),
    );
  if (messageId !== undefined) {
    const matcher = new TextMatcher(messageId, [...path, 'message_id'], complain);
    found.push(textual('message_id', ({ incoming }) => incoming.message.messageId, matcher));
  }
  const dataIn = ({ incoming }: ConditionInput): unknown[] =>
    incoming.message.parts.flatMap((part) => ('data' in part ? [part.data] : []));
  for (const [each, at] of listed(data, [...path, 'data']))
    found.push(createDataMatcher('data', each, dataIn, at, complain));
  const metadataIn = ({ incoming }: ConditionInput): unknown[] =>
    [incoming.message.metadata, incoming.metadata].filter((each) => each !== undefined);
  for (const [each, at] of listed(metadata, [...path, 'metadata']))
    found.push(createDataMatcher('metadata', each, metadataIn, at, complain));
  if (file !== undefined) found.push(fileCondition(file, [...path, 'file'], complain));
  return found;
}

function aboutCall(form: ConditionsSpec, path: DocumentPath, complain: Complain): Condition[] {
  const found: Condition[] = [];
  const { skill, principal, header = {}, version, transport, operation } = form;
  if (skill !== undefined) {
    const matcher = new TextMatcher(skill, [...path, 'skill'], complain);
    found.push(textual('skill', ({ incoming }) => incoming.skill, matcher));
  }
  for (const [name, match] of Object.entries(header)) {
    const matcher = new TextMatcher(match, [...path, 'header', name], complain);
    found.push(textual(`header ${name}`, ({ incoming }) => joinedHeader(incoming.headers, name), matcher));
  }
  if (principal !== undefined) {
    const matcher = new TextMatcher(principal, [...path, 'principal'], complain);
    found.push(textual('principal', ({ incoming }) => incoming.principal?.id, matcher));
  }
  if (version !== undefined) found.push(oneOf('version', version, ({ incoming }) => incoming.version));
  if (transport !== undefined)
    found.push(oneOf('transport', transport, ({ incoming }) => incoming.transport));
  if (operation !== undefined)
    found.push(oneOf('operation', operation, ({ incoming }) => incoming.operation));
  return found;
}

function aboutConversation({ turn, state = {}, task_state: taskState }: ConditionsSpec): Condition[] {
  const found: Condition[] = [];
  if (turn !== undefined) {
    const { from = 0, to = Number.POSITIVE_INFINITY } =
      typeof turn === 'number' ? { from: turn, to: turn } : turn;
    found.push({
      name: 'turn',
      expected: from === to ? String(from) : `${from} to ${to === Number.POSITIVE_INFINITY ? 'any' : to}`,
      holds: ({ incoming }) => incoming.turn >= from && incoming.turn <= to,
      actual: ({ incoming }) => String(incoming.turn),
    });
  }
  for (const [name, value] of Object.entries(state)) {
    found.push({
      name: `state ${name}`,
      expected: value === null ? 'not to be set' : quoteValue(value),
      holds: (seen) => isDeepStrictEqual(seen.state.get(name) ?? null, value),
      actual: (seen) => quoteValue(seen.state.get(name)),
    });
  }
  if (taskState !== undefined)
    found.push(oneOf('task_state', taskState, ({ incoming }) => incoming.task?.status.state ?? 'none'));
  return found;
}

function textual(
  name: string,
  read: (seen: ConditionInput) => string | undefined,
  matcher: TextMatcher,
): Condition {
  return {
    name,
    expected: matcher.expected,
    holds: (seen) => matcher.holds(read(seen)),
    actual: (seen) => quoteValue(read(seen)),
  };
}

function oneOf(
  name: string,
  allowed: string | readonly string[],
  read: (seen: ConditionInput) => string | undefined,
): Condition {
  const all = [allowed].flat();
  return {
    name,
    expected: all.join(' or '),
    holds: (seen) => all.includes(read(seen) ?? ''),
    actual: (seen) => read(seen) ?? 'missing',
  };
}

function fileCondition(
  form: NonNullable<ConditionsSpec['file']>,
  path: DocumentPath,
  complain: Complain,
): Condition {
  const { media_type: type, name, given_as: givenAs } = form;
  const matcher = name === undefined ? undefined : new TextMatcher(name, [...path, 'name'], complain);
  const filesIn = ({ incoming }: ConditionInput) =>
    incoming.message.parts.flatMap((part) => fileVariables(part) ?? []);
  const expected = [
    'a file',
    ...(type === undefined ? [] : [`of type ${type}`]),
    ...(matcher ? [`with a name ${matcher.expected}`] : []),
    ...(givenAs === undefined ? [] : [`given as ${givenAs}`]),
  ].join(' ');
  return {
    name: 'file',
    expected,
    holds: (seen) =>
      filesIn(seen).some(
        (file) =>
          (type === undefined || isOfType(file.media_type, type)) &&
          (matcher === undefined || matcher.holds(file.name)) &&
          (givenAs === undefined || (givenAs === 'url') === (file.url !== undefined)),
      ),
    actual: (seen) => {
      const told = filesIn(seen).map(
        ({ name, media_type }) => `${quoteValue(name)} of type ${media_type ?? 'unknown'}`,
      );
      return told.length > 0 ? told.slice(0, 3).join(', ') : 'none';
    },
  };
}

function isOfType(actual: string | undefined, expected: string): boolean {
  const [bare = ''] = (actual ?? '').toLowerCase().split(';');
  const wanted = expected.toLowerCase();
  return wanted.endsWith('/*') ? bare.trim().startsWith(wanted.slice(0, -1)) : bare.trim() === wanted;
}

function* listed<Item>(
  value: Item | Item[] | undefined,
  path: DocumentPath,
): Generator<[Item, DocumentPath]> {
  if (Array.isArray(value)) for (const [index, each] of value.entries()) yield [each, [...path, index]];
  else if (value !== undefined) yield [value, path];
}
