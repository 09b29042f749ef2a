import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../src/dialects/dialect.ts';
import { lenientMode, strictMode } from '../src/dialects/translation-loss.ts';
import { v0_3 } from '../src/dialects/v0_3/index.ts';
import { v0_3_rest } from '../src/dialects/v0_3_rest/index.ts';
import { v1_0 } from '../src/dialects/v1_0/index.ts';
import type { AgentCard } from '../src/protocol/card.ts';
import type { StreamEvent } from '../src/protocol/event.ts';
import type { Message } from '../src/protocol/message.ts';
import type { PushConfig } from '../src/protocol/push.ts';
import type { SendRequest } from '../src/protocol/requests.ts';
import type { Task } from '../src/protocol/task.ts';
import * as any from './arbitraries.ts';

/** Model types that dialects encode and decode. */
interface Models {
  task: Task;
  message: Message;
  event: StreamEvent;
  push: PushConfig;
  send: SendRequest;
  card: AgentCard;
}

const dialects: Dialect[] = [v1_0, v0_3, v0_3_rest];

const throughText = (wire: unknown): unknown => JSON.parse(JSON.stringify(wire)) as unknown;

/** Arbitrary values and both directions; the event reader may insert a task before the event. */
const codecs: {
  [K in keyof Models]: {
    any: fc.Arbitrary<Models[K]>;
    write: (dialect: Dialect, value: Models[K]) => unknown;
    read: (dialect: Dialect, wire: unknown) => Models[K] | undefined;
  };
} = {
  task: {
    any: any.task,
    write: (dialect, task) => dialect.task.write(task),
    read: (dialect, wire) => dialect.task.read(wire, lenientMode()),
  },
  message: {
    any: any.message,
    write: (dialect, message) => dialect.message.write(message),
    read: (dialect, wire) => dialect.message.read(wire, strictMode),
  },
  event: {
    any: any.event,
    write: (dialect, event) => dialect.eventWriter().write(event)[0],
    read: (dialect, wire) => dialect.eventReader({}).read(wire, lenientMode()).at(-1),
  },
  push: {
    any: any.push,
    write: (dialect, config) => dialect.requests.createPushConfig.write(config),
    read: (dialect, wire) => dialect.requests.createPushConfig.read(wire, strictMode),
  },
  send: {
    any: any.send,
    write: (dialect, request) => dialect.requests.send.write(request),
    read: (dialect, wire) => dialect.requests.send.read(wire, strictMode),
  },
  card: {
    any: any.card,
    write: (dialect, card) => dialect.card.write(card),
    read: (dialect, wire) => dialect.card.read(wire, lenientMode()),
  },
};

const names = Object.keys(codecs) as (keyof Models)[];

function check<K extends keyof Models>(name: K, body: (value: Models[K]) => void): void {
  fc.assert(fc.property(codecs[name].any, body), { numRuns: name === 'card' || name === 'task' ? 60 : 100 });
}

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))('%s', (_name, dialect) => {
  it.each(names)('decodes every %s that it encodes', (name) => {
    check(name, (value) => {
      const wire = throughText(codecs[name].write(dialect, value as never));
      expect(codecs[name].read(dialect, wire)).toEqual(value);
    });
  });
});

const pairs = dialects.flatMap((from) =>
  dialects.filter((to) => to !== from).map((to) => [from.name, to.name, { from, to }] as const),
);

describe.each(pairs)('%s through %s', (_from, _to, { from, to }) => {
  it.each(names)('preserves every %s', (name) => {
    check(name, (value) => {
      const { read, write } = codecs[name];
      const sent = throughText(write(from, value as never));
      const translated = throughText(write(to, read(from, sent) as never));
      expect(throughText(write(from, read(to, translated) as never))).toEqual(sent);
    });
  });
});
