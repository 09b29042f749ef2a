import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type AnySchemaObject } from 'ajv';
import formats from 'ajv-formats';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect, UnaryOperation } from '../src/dialects/dialect.ts';
import { rpcMethodName } from '../src/dialects/dialect.ts';
import { writeHybridCard } from '../src/dialects/hybrid-card.ts';
import { v0_3 } from '../src/dialects/v0_3/index.ts';
import type { Operation } from '../src/protocol/agent.ts';
import type { AgentCard } from '../src/protocol/card.ts';
import { A2AError, errorTable, type ErrorReason } from '../src/protocol/errors.ts';
import * as any from './arbitraries.ts';

const spec = process.env.DRAGOMAN_SPEC
  ? new URL(`file://${process.env.DRAGOMAN_SPEC}/`)
  : new URL('../../shared/protocol/spec/', import.meta.url);

/** Wire values of a dialect and the schema definition that they must match. */
interface SchemaCase {
  of: string;
  from: fc.Arbitrary<unknown>;
}

const ids = fc.record({ taskId: fc.constant('t-1'), id: fc.constant('p-1') });

/** JSON-RPC requests of an operation. */
function request<T>(dialect: Dialect, operation: Operation, models: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return models.map((model) => ({
    jsonrpc: '2.0',
    id: 1,
    method: rpcMethodName(dialect, operation),
    params: dialect.requests[operation].write(model as never),
  }));
}

/** JSON-RPC responses of an operation. */
function response<T>(
  dialect: Dialect,
  operation: UnaryOperation,
  models: fc.Arbitrary<T>,
): fc.Arbitrary<unknown> {
  return models.map((model) => ({
    jsonrpc: '2.0',
    id: 1,
    result: dialect.results[operation].write(model as never),
  }));
}

function events(dialect: Dialect): fc.Arbitrary<unknown> {
  return any.event.map((event) => ({
    jsonrpc: '2.0',
    id: 1,
    result: dialect.eventWriter().write(event)[0],
  }));
}

function errors(dialect: Dialect): fc.Arbitrary<unknown> {
  return fc.constantFrom(...(Object.keys(errorTable) as ErrorReason[])).map((reason) => ({
    jsonrpc: '2.0',
    id: 1,
    error: dialect.rpcError.write(new A2AError(reason, undefined, { details: { taskId: 't-1' } })),
  }));
}

/** Cases of both 0.2 and 0.3. */
function commonCases(dialect: Dialect, cards: fc.Arbitrary<AgentCard>): SchemaCase[] {
  return [
    { of: 'Task', from: any.task.map((task) => dialect.task.write(task)) },
    { of: 'Message', from: any.message.map((message) => dialect.message.write(message)) },
    { of: 'AgentCard', from: cards.map((card) => dialect.card.write(card)) },
    { of: 'SendMessageRequest', from: request(dialect, 'send', any.send) },
    { of: 'SendStreamingMessageRequest', from: request(dialect, 'stream', any.send) },
    {
      of: 'GetTaskRequest',
      from: request(dialect, 'getTask', fc.record({ id: fc.string({ minLength: 1 }) })),
    },
    { of: 'CancelTaskRequest', from: request(dialect, 'cancelTask', fc.constant({ id: 't-1' })) },
    { of: 'TaskResubscriptionRequest', from: request(dialect, 'subscribe', fc.constant({ id: 't-1' })) },
    { of: 'SetTaskPushNotificationConfigRequest', from: request(dialect, 'createPushConfig', any.push) },
    { of: 'GetTaskPushNotificationConfigRequest', from: request(dialect, 'getPushConfig', ids) },
    { of: 'ListTaskPushNotificationConfigRequest', from: request(dialect, 'listPushConfigs', ids) },
    { of: 'DeleteTaskPushNotificationConfigRequest', from: request(dialect, 'deletePushConfig', ids) },
    {
      of: 'SendMessageSuccessResponse',
      from: response(dialect, 'send', fc.oneof<fc.Arbitrary<unknown>[]>(any.task, any.message)),
    },
    { of: 'GetTaskSuccessResponse', from: response(dialect, 'getTask', any.task) },
    { of: 'CancelTaskSuccessResponse', from: response(dialect, 'cancelTask', any.task) },
    {
      of: 'SetTaskPushNotificationConfigSuccessResponse',
      from: response(dialect, 'createPushConfig', any.push),
    },
    {
      of: 'ListTaskPushNotificationConfigSuccessResponse',
      from: response(
        dialect,
        'listPushConfigs',
        fc.array(any.push, { maxLength: 3 }).map((configs) => ({ configs, nextPageToken: '' })),
      ),
    },
    {
      of: 'DeleteTaskPushNotificationConfigSuccessResponse',
      from: response(dialect, 'deletePushConfig', fc.constant(undefined)),
    },
    { of: 'SendStreamingMessageSuccessResponse', from: events(dialect) },
    { of: 'JSONRPCErrorResponse', from: errors(dialect) },
  ];
}

/** Cards without security schemes that 0.2 lacks. */
const olderCards = any.card.map((card) => ({
  ...card,
  securitySchemes: Object.fromEntries(
    Object.entries(card.securitySchemes ?? {}).filter(([, scheme]) => scheme.type !== 'mutualTLS'),
  ),
}));

const table: { schema: string; dialect: Dialect; cases: SchemaCase[] }[] = [
  {
    schema: 'a2a-v0.3.0.schema.json',
    dialect: v0_3,
    cases: [
      ...commonCases(v0_3, any.card),
      { of: 'AgentCard', from: any.card.map(writeHybridCard) },
      {
        of: 'GetAuthenticatedExtendedCardSuccessResponse',
        from: response(v0_3, 'extendedCard', any.card),
      },
      { of: 'GetAuthenticatedExtendedCardRequest', from: request(v0_3, 'extendedCard', fc.constant({})) },
    ],
  },
  { schema: 'a2a-v0.2.6.schema.json', dialect: v0_3, cases: commonCases(v0_3, olderCards) },
];

describe.each(table)('$dialect.name against $schema', ({ schema, cases }) => {
  const file = new URL(schema, spec);
  if (!existsSync(file)) {
    const reason = `${schema} not found (set DRAGOMAN_SPEC to its folder)`;
    console.log(`skipped: ${reason}`);
    it.skip(`is not checked: ${reason}`);
    return;
  }
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  const definitions = JSON.parse(readFileSync(file, 'utf8')) as AnySchemaObject;
  const root = definitions.definitions ? 'definitions' : '$defs';
  ajv.addSchema(definitions, 'a2a');

  it.each(cases)('writes a valid $of', ({ of, from }) => {
    const validate = ajv.compile({ $ref: `a2a#/${root}/${of}` });
    fc.assert(
      fc.property(from, (wire) => {
        validate(JSON.parse(JSON.stringify(wire)));
        expect(validate.errors ?? []).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('detects a task of another version', () => {
    const validate = ajv.compile({ $ref: `a2a#/${root}/Task` });
    expect(validate({ id: 't-1', status: { state: 'TASK_STATE_WORKING' } })).toBe(false);
  });
});
