import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import * as addFormats from 'ajv-formats';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { Metadata, Part } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import { type Artifact, type Task, type TaskStatus, taskStates } from '../../protocol/task.ts';
import { strictMode } from '../translation-loss.ts';
import { v0_1 } from './index.ts';

const onWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const metadata: fc.Arbitrary<Metadata | undefined> = maybe(
  fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 2 }),
);
const labels = { filename: maybe(word), mediaType: maybe(fc.constant('text/html')), metadata };
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string(), ...labels }),
  fc.record({ raw: fc.constantFrom('', 'AAE='), ...labels }),
  fc.record({ url: fc.webUrl(), ...labels }),
  fc.record({ data: fc.jsonValue({ maxDepth: 2 }), ...labels }),
);
const parts = fc.array(part, { minLength: 1, maxLength: 3 });
const names = maybe(fc.array(word, { minLength: 1, maxLength: 2 }));
const message: fc.Arbitrary<Message> = fc.record({
  messageId: fc.uuid(),
  role: fc.constantFrom('user' as const, 'agent' as const),
  parts,
  taskId: fc.constantFrom('t', 'other'),
  contextId: fc.constantFrom('c', 'other'),
  extensions: names,
  referenceTaskIds: names,
  metadata,
});
const status: fc.Arbitrary<TaskStatus> = fc.record({
  state: fc.constantFrom(...taskStates),
  message: maybe(message),
  timestamp: maybe(fc.constant('2025-04-09T10:00:00.000Z')),
});
const artifactId = fc.oneof(
  word,
  fc.nat(5).map((n) => `artifact-${n}`),
);
const artifact: fc.Arbitrary<Artifact> = fc.record({
  artifactId,
  name: maybe(word),
  description: maybe(word),
  parts,
  extensions: names,
  metadata,
});
const task: fc.Arbitrary<Task> = fc.record({
  id: fc.constant('t'),
  contextId: fc.constantFrom('c', 't'),
  status,
  artifacts: maybe(fc.uniqueArray(artifact, { selector: (each) => each.artifactId, maxLength: 5 })),
  history: maybe(fc.array(message, { maxLength: 3 })),
  metadata,
});
const ids = { taskId: fc.constant('t'), contextId: fc.constant('c') };
const events: fc.Arbitrary<StreamEvent[]> = fc
  .tuple(
    task.map((value): StreamEvent => ({ kind: 'task', task: { ...value, contextId: 'c' } })),
    fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('status' as const), ...ids, status, metadata }),
        fc.record({
          kind: fc.constant('artifact' as const),
          ...ids,
          artifact,
          append: maybe(fc.boolean()),
          lastChunk: maybe(fc.boolean()),
          metadata,
        }),
      ),
      { maxLength: 5 },
    ),
  )
  .map(([first, rest]) => [first, ...rest]);

function readAll(wire: readonly unknown[]): StreamEvent[] {
  const reader = v0_1.eventReader({});
  return wire.flatMap((each) => reader.read(each, strictMode));
}

function writeAll(story: readonly StreamEvent[]): unknown[] {
  const writer = v0_1.eventWriter();
  return onWire([...story.flatMap((event) => writer.write(event)), ...writer.end(undefined)]);
}

describe('v0_1 round trip', () => {
  it('preserves every message', () => {
    fc.assert(
      fc.property(message, (value) => {
        expect(v0_1.message.read(onWire(v0_1.message.write(value)), strictMode)).toEqual(onWire(value));
      }),
    );
  });

  it('preserves every task', () => {
    fc.assert(
      fc.property(task, (value) => {
        expect(v0_1.task.read(onWire(v0_1.task.write(value)), strictMode)).toEqual(onWire(value));
      }),
    );
  });

  it('preserves the resulting task of every stream', () => {
    fc.assert(
      fc.property(events, (story) => {
        const { history: _told, ...rest } = reduce(onWire(story)) as Task;
        const { history: _heard, ...outcome } = reduce(readAll(writeAll(story))) as Task;
        expect(outcome).toEqual({ ...rest, ...(rest.artifacts?.length === 0 && { artifacts: undefined }) });
      }),
    );
  });
});

const spec = process.env.DRAGOMAN_SPEC
  ? new URL(`file://${process.env.DRAGOMAN_SPEC}/`)
  : new URL('../../../../shared/protocol/spec/', import.meta.url);
const schemaFile = new URL('a2a-legacy-v0.1.0.schema.json', spec);
const hasSchema = existsSync(schemaFile);
const why = hasSchema ? '' : ' (it is not here; DRAGOMAN_SPEC names its folder)';

describe.skipIf(!hasSchema)(`0.1 schema${why}`, () => {
  function validator(name: string): ValidateFunction {
    const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as object;
    const ajv = new Ajv({ strict: false });
    addFormats.default.default(ajv);
    return ajv.addSchema(schema, 'a2a').compile({ $ref: `a2a#/$defs/${name}` });
  }

  it('accepts every written task', () => {
    const validate = validator('Task');
    fc.assert(
      fc.property(task, (value) => {
        expect(validate(onWire(v0_1.task.write(value))) || validate.errors).toBe(true);
      }),
    );
  });

  it('accepts every written event', () => {
    const isStatus = validator('TaskStatusUpdateEvent');
    const isArtifact = validator('TaskArtifactUpdateEvent');
    fc.assert(
      fc.property(events, (story) => {
        for (const each of writeAll(story)) {
          const validate = Object.hasOwn(each as object, 'status') ? isStatus : isArtifact;
          expect(validate(each) || validate.errors).toBe(true);
        }
      }),
    );
  });

  it('accepts every written send request', () => {
    const validate = validator('TaskSendParams');
    fc.assert(
      fc.property(message, (value) => {
        expect(validate(onWire(v0_1.requests.send.write({ message: value }))) || validate.errors).toBe(true);
      }),
    );
  });

  it('accepts a written card', () => {
    const validate = validator('AgentCard');
    const wire = v0_1.card.write({
      name: 'Echo',
      description: '',
      version: '1',
      interfaces: [{ url: 'https://a.test/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true, extendedAgentCard: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'echo', name: 'Echo', description: '', tags: [] }],
      securitySchemes: { b: { type: 'http', scheme: 'bearer' } },
      securityRequirements: [{ b: [] }],
    });
    expect(validate(onWire(wire)) || validate.errors).toBe(true);
  });
});
