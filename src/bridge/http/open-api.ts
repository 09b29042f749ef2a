import type { SecurityScheme } from '../../protocol/card.ts';
import type { Authenticator } from '../../server/auth/authenticator.ts';
import { type Action, actionStatuses, type JsonSchema } from '../action-types.ts';
import { describeActions, descriptionWithExamples } from '../actions/describe-actions.ts';

/** Options of {@link buildOpenApi}. */
export interface OpenApiOptions {
  readonly title?: string;
  /** Base URL of the actions. */
  readonly url?: string;
  /** Accepted authentication methods; a client needs one of them. */
  readonly auth?: readonly Authenticator[];
  readonly isAuthOptional?: boolean;
}

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Returns the path of an action. */
export function actionPath({ agentName, skillId }: Action): string {
  const path = agentName === '' ? [skillId] : [agentName, skillId];
  return `/actions/${path.map(encodeURIComponent).join('/')}`;
}

/** Builds an OpenAPI 3.1 document of the actions of a bridge. */
export function buildOpenApi(actions: readonly Action[], options: OpenApiOptions = {}): JsonSchema {
  const { title = 'Actions of agents', url, auth, isAuthOptional = false } = options;
  const names = new Set<string>();
  return {
    openapi: '3.1.0',
    info: { title, version: '1.0.0', description: describeActions(actions) },
    ...(url !== undefined && { servers: [{ url }] }),
    ...(auth && {
      security: [
        ...auth.map(({ schemes, scopes = [] }) =>
          Object.fromEntries(
            Object.entries(schemes).map(([name, { type }]) => [
              name,
              type === 'oauth2' || type === 'openIdConnect' ? scopes : [],
            ]),
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
          { post: buildOperation(action, uniqueOperationId(action, names)) },
        ]),
      ),
    },
    components: {
      schemas: components,
      ...(auth && {
        securitySchemes: Object.fromEntries(
          auth.flatMap(({ schemes }) =>
            Object.entries(schemes).map(([name, scheme]) => [name, toOpenApiScheme(scheme)]),
          ),
        ),
      }),
    },
  };
}

/** Returns a unique id that is also a valid function name in generated code. */
function uniqueOperationId({ name }: Action, names: Set<string>): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_]+/g, '_');
  let unique = plain;
  for (let number = 2; names.has(unique); number++) unique = `${plain}_${number}`;
  names.add(unique);
  return unique;
}

function buildOperation(action: Action, id: string): JsonSchema {
  const { title, tags, output } = action;
  const response = output
    ? { allOf: [ref('ActionResponse'), { type: 'object', properties: { data: output } }] }
    : ref('ActionResponse');
  return {
    operationId: id,
    summary: title,
    description: descriptionWithExamples(action),
    ...(tags.length > 0 && { tags: [...tags] }),
    requestBody: { required: true, content: json(buildBodySchema(action.parameters)) },
    responses: {
      200: {
        description: 'Result of the call; see `success` and `status`.',
        content: {
          ...json(response),
          'text/event-stream': {
            schema: { type: 'string', description: 'Events `progress`, then one event `result`.' },
          },
        },
      },
      default: { description: 'Invalid request.', content: json(ref('Error')) },
    },
  };
}

function buildBodySchema(parameters: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      parameters,
      sessionId: { type: 'string', description: 'Calls of one session share a context.' },
      waitBudget: {
        type: 'number',
        minimum: 0,
        description: 'Milliseconds to wait for a result before a follow-up ID is returned.',
      },
    },
    required: ['parameters'],
  };
}

function json(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}

function toOpenApiScheme(scheme: SecurityScheme): JsonSchema {
  if (scheme.type !== 'apiKey') return { ...scheme };
  const { location, ...rest } = scheme;
  return { ...rest, in: location };
}

const string: JsonSchema = { type: 'string' };
const strings: JsonSchema = { type: 'array', items: string };

const components: JsonSchema = {
  Action: {
    type: 'object',
    properties: {
      name: string,
      agentName: string,
      skillId: string,
      title: string,
      description: string,
      examples: strings,
      tags: strings,
      parameters: { type: 'object', description: 'A JSON Schema.' },
      output: { type: 'object', description: 'A JSON Schema.' },
      inputModes: strings,
      outputModes: strings,
    },
    required: ['name', 'agentName', 'skillId', 'title', 'description', 'parameters'],
  },
  ActionList: {
    type: 'object',
    properties: { description: string, actions: { type: 'array', items: ref('Action') } },
    required: ['actions'],
  },
  ActionFile: {
    type: 'object',
    properties: {
      name: string,
      mediaType: string,
      uri: string,
      bytes: { type: 'string', contentEncoding: 'base64' },
      size: { type: 'integer', minimum: 0 },
    },
    required: ['name', 'mediaType'],
  },
  ActionResponse: {
    type: 'object',
    properties: {
      success: { type: 'boolean' },
      status: { enum: actionStatuses },
      message: string,
      files: { type: 'array', items: ref('ActionFile') },
      data: { type: 'object' },
      errorInfo: {
        type: 'object',
        properties: { errorMessage: string, code: { type: 'integer' }, hint: string },
        required: ['errorMessage'],
      },
      followUpId: string,
      taskId: string,
      contextId: string,
    },
    required: ['success', 'status', 'message', 'files', 'data'],
  },
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { reason: string, message: string },
        required: ['reason', 'message'],
      },
    },
    required: ['error'],
  },
};
