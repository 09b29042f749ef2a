import { asJsonObject, type JsonObject } from '../../../../../src/primitives/json.ts';
import type { Operation } from '../../../../../src/protocol/agent.ts';
import type { ProtocolVersion } from '../../../../../src/protocol/card.ts';
import { taskStates } from '../../../../../src/protocol/task.ts';
import type { OperationModel } from './request-draft.ts';

/** A field of the form: where its value is in the model, and how it is edited. */
export interface FormField {
  /** Path in the model, such as `message.contextId`. */
  readonly path: string;
  readonly label: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'names' | 'json' | 'parts' | 'choice' | 'message-id';
  readonly choices?: readonly string[];
  readonly hint?: string;
}

/** Fields under one heading. */
export interface FormSection {
  readonly title: string;
  readonly fields: readonly FormField[];
  /** False if the section is closed at first, because few requests need it. */
  readonly isOpen: boolean;
}

const text = (path: string, label: string, hint?: string): FormField => ({
  path,
  label,
  kind: 'text',
  ...(hint !== undefined && { hint }),
});
const number = (path: string, label: string): FormField => ({ path, label, kind: 'number' });
const taskId = text('id', 'Task id');
const historyLength = number('historyLength', 'History length');

function pushFields(at: string): FormField[] {
  return [
    text(`${at}url`, 'Webhook URL'),
    text(`${at}token`, 'Token'),
    text(`${at}authentication.scheme`, 'Authentication scheme'),
    text(`${at}authentication.credentials`, 'Credentials'),
  ];
}

const section = (title: string, fields: readonly FormField[], isOpen = true): FormSection => ({
  title,
  fields,
  isOpen,
});

function sendSections(version: ProtocolVersion): FormSection[] {
  const isOldest = version === '0.1';
  return [
    section('Message', [
      { path: 'message.parts', label: 'Parts', kind: 'parts' },
      ...(isOldest
        ? [text('clientTaskId', 'Task id', 'In 0.1 the client chooses it.')]
        : [
            { path: 'message.messageId', label: 'Message id', kind: 'message-id' } as const,
            text('message.taskId', 'Task id', 'Only to continue a task.'),
          ]),
      text('message.contextId', isOldest ? 'Session id' : 'Context id'),
    ]),
    section(
      'Configuration',
      [
        number('configuration.historyLength', 'History length'),
        {
          path: 'configuration.acceptedOutputModes',
          label: 'Accepted output modes',
          kind: 'names',
          hint: 'Media types, separated by commas.',
        },
        { path: 'configuration.returnImmediately', label: 'Return immediately', kind: 'boolean' },
      ],
      false,
    ),
    section('Push notifications', pushFields('configuration.pushConfig.'), false),
    section(
      'Metadata and references',
      [
        { path: 'message.metadata', label: 'Metadata of the message (JSON)', kind: 'json' },
        { path: 'metadata', label: 'Metadata of the request (JSON)', kind: 'json' },
        ...(isOldest
          ? []
          : [
              {
                path: 'message.referenceTaskIds',
                label: 'Related task ids',
                kind: 'names',
                hint: 'Separated by commas.',
              } as const,
            ]),
      ],
      false,
    ),
  ];
}

/** Returns the form of an operation. */
export function formSections(operation: Operation, version: ProtocolVersion): readonly FormSection[] {
  switch (operation) {
    case 'send':
    case 'stream':
      return sendSections(version);
    case 'getTask':
      return [section('Task', [taskId, historyLength])];
    case 'cancelTask':
      return [section('Task', [taskId, { path: 'metadata', label: 'Metadata (JSON)', kind: 'json' }])];
    case 'subscribe':
      return [section('Task', [taskId])];
    case 'listTasks':
      return [
        section('Filters', [
          text('contextId', 'Context id'),
          { path: 'status', label: 'State', kind: 'choice', choices: taskStates },
          text('statusTimestampAfter', 'Changed after', 'Such as 2026-01-01T00:00:00Z.'),
          { path: 'includeArtifacts', label: 'Include artifacts', kind: 'boolean' },
        ]),
        section('Page', [number('pageSize', 'Page size'), text('pageToken', 'Page token'), historyLength]),
      ];
    case 'createPushConfig':
      return [
        section('Webhook', [text('taskId', 'Task id'), text('id', 'Configuration id'), ...pushFields('')]),
      ];
    case 'getPushConfig':
    case 'deletePushConfig':
      return [section('Webhook', [text('taskId', 'Task id'), text('id', 'Configuration id')])];
    case 'listPushConfigs':
      return [
        section('Webhooks', [
          text('taskId', 'Task id'),
          number('pageSize', 'Page size'),
          text('pageToken', 'Page token'),
        ]),
      ];
    case 'extendedCard':
      return [];
  }
}

/** Returns the value at a path of the model. */
export function valueInModel(model: OperationModel, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    const object = asJsonObject(value);
    return object && Object.hasOwn(object, name) ? object[name] : undefined;
  }, model);
}

/** Copies a model with another value at a path. Undefined removes the member, and objects that it leaves empty. */
export function withValueInModel(model: OperationModel, path: string, value: unknown): OperationModel {
  return setMember(model as JsonObject, path.split('.'), value);
}

function setMember(object: JsonObject, [name = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const next = rest.length === 0 ? value : setMember(asJsonObject(object[name]) ?? {}, rest, value);
  const isEmpty = rest.length > 0 && isJsonEmpty(next);
  const { [name]: _former, ...others } = object;
  if (next === undefined || isEmpty) return others;
  // Members keep their order.
  return Object.hasOwn(object, name) ? { ...object, [name]: next } : { ...others, [name]: next };
}

function isJsonEmpty(value: unknown): boolean {
  const object = asJsonObject(value);
  return object !== undefined && Object.values(object).every((each) => each === undefined);
}
