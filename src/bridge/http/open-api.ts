import type { SecurityScheme } from '../../protocol/card.ts';
import type { Authenticator } from '../../server/auth/authenticator.ts';
import type { Action, JsonSchema } from '../action-types.ts';

/** What the document says beside the actions. */
export interface OpenApiOptions {
  readonly title?: string;
  /** Where the actions are. */
  readonly url?: string;
  /** How callers prove who they are: one of these is enough. */
  readonly auth?: readonly Authenticator[];
  readonly isAuthOptional?: boolean;
}

/** A JSON object. */
type Json = { readonly [key: string]: unknown };

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** The path at which an action is called. */
export function actionPath({ agentName, skillId }: Action): string {
  const path = agentName === '' ? [skillId] : [agentName, skillId];
  return `/actions/${path.map(encodeURIComponent).join('/')}`;
}

/** Describes the actions of a bridge in OpenAPI 3.1. */
export function buildOpenApi(actions: readonly Action[], options: OpenApiOptions = {}): Json {
  const { title = 'Actions of agents', url, auth, isAuthOptional = false } = options;
  const names = new Set<string>();
  return {
    openapi: '3.1.0',
    info: { title, version: '1.0.0', description: 'Skills of remote agents, one operation for each.' },
    ...(url !== undefined && { servers: [{ url }] }),
    ...(auth && {
      security: [
        ...auth.map(({ schemes, scopes = [] }) =>
          Object.fromEntries(
            Object.entries(schemes).map(([name, { type }]) => [name, hasScopes(type) ? scopes : []]),
          ),
        ),
        ...(isAuthOptional ? [{}] : []),
      ],
    }),
    paths: {
      '/actions': {
        get: {
          operationId: 'list_actions',
          summary: 'Lists all actions.',
          responses: { 200: { description: 'All actions.', content: json(ref('ActionList')) } },
        },
      },
      ...Object.fromEntries(
        actions.map((action) => [
          `${actionPath(action)}:invoke`,
          { post: operationOf(action, operationId(action, names)) },
        ]),
      ),
    },
    components: {
      schemas: components,
      ...(auth && {
        securitySchemes: Object.fromEntries(
          auth.flatMap(({ schemes }) =>
            Object.entries(schemes).map(([name, scheme]) => [name, schemeOf(scheme)]),
          ),
        ),
      }),
    },
  };
}

/** A name that programs can use as that of a function, and no two actions share. */
function operationId({ name }: Action, names: Set<string>): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_]+/g, '_');
  let unique = plain;
  for (let number = 2; names.has(unique); number++) unique = `${plain}_${number}`;
  names.add(unique);
  return unique;
}

function operationOf(action: Action, id: string): Json {
  const { title, description, tags, examples, output } = action;
  const said =
    examples.length === 0
      ? description
      : `${description}\n\nExamples:\n${examples.map((each) => `- ${each}`).join('\n')}`;
  const response = output
    ? { allOf: [ref('ActionResponse'), { type: 'object', properties: { data: output } }] }
    : ref('ActionResponse');
  return {
    operationId: id,
    summary: title,
    description: said,
    ...(tags.length > 0 && { tags: [...tags] }),
    requestBody: { required: true, content: json(bodyOf(action.parameters)) },
    responses: {
      200: {
        description: 'What became of the call; `success` and `status` say how it ended.',
        content: {
          ...json(response),
          'text/event-stream': {
            schema: { type: 'string', description: 'Events `progress`, and one `result` at the end.' },
          },
        },
      },
      default: { description: 'The request was not understood.', content: json(ref('Fault')) },
    },
  };
}

function bodyOf(parameters: JsonSchema): Json {
  return {
    type: 'object',
    properties: {
      parameters,
      sessionId: { type: 'string', description: 'Calls of one session are one conversation.' },
      waitBudget: {
        type: 'number',
        minimum: 0,
        description: 'Milliseconds to wait for an answer before a follow-up ID is given.',
      },
    },
    required: ['parameters'],
  };
}

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

function hasScopes(type: SecurityScheme['type']): boolean {
  return type === 'oauth2' || type === 'openIdConnect';
}

function schemeOf(scheme: SecurityScheme): Json {
  if (scheme.type !== 'apiKey') return { ...scheme };
  const { location, ...rest } = scheme;
  return { ...rest, in: location };
}

const text: Json = { type: 'string' };
const texts: Json = { type: 'array', items: text };

const components: Json = {
  Action: {
    type: 'object',
    properties: {
      name: text,
      agentName: text,
      skillId: text,
      title: text,
      description: text,
      examples: texts,
      tags: texts,
      parameters: { type: 'object', description: 'A JSON Schema.' },
      output: { type: 'object', description: 'A JSON Schema.' },
      inputModes: texts,
      outputModes: texts,
    },
    required: ['name', 'agentName', 'skillId', 'title', 'description', 'parameters'],
  },
  ActionList: {
    type: 'object',
    properties: { actions: { type: 'array', items: ref('Action') } },
    required: ['actions'],
  },
  ActionFile: {
    type: 'object',
    properties: {
      name: text,
      mediaType: text,
      uri: text,
      bytes: { type: 'string', contentEncoding: 'base64' },
      size: { type: 'integer', minimum: 0 },
    },
    required: ['name', 'mediaType'],
  },
  ActionResponse: {
    type: 'object',
    properties: {
      success: { type: 'boolean' },
      status: {
        enum: [
          'COMPLETED',
          'FAILED',
          'REJECTED',
          'CANCELED',
          'INPUT_REQUIRED',
          'AUTH_REQUIRED',
          'RUNNING',
          'ERROR',
          'TIMEOUT',
        ],
      },
      message: text,
      files: { type: 'array', items: ref('ActionFile') },
      data: { type: 'object' },
      errorInfo: {
        type: 'object',
        properties: { errorMessage: text, code: { type: 'integer' }, hint: text },
        required: ['errorMessage'],
      },
      followUpId: text,
      taskId: text,
      contextId: text,
    },
    required: ['success', 'status', 'message', 'files', 'data'],
  },
  Fault: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { reason: text, message: text },
        required: ['reason', 'message'],
      },
    },
    required: ['error'],
  },
};
