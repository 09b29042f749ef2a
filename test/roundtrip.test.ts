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

/** Everything that travels, by name. */
interface Things {
  task: Task;
  message: Message;
  event: StreamEvent;
  push: PushConfig;
  send: SendRequest;
  card: AgentCard;
}

/**
 * A dialect, and for each thing that it cannot carry whole, what is left of it. A thing that is not named comes back
 * as it was; `false` skips it.
 */
interface Row {
  dialect: Dialect;
  leaves?: { [K in keyof Things]?: ((thing: Things[K]) => Things[K]) | false };
}

const rows: Row[] = [{ dialect: v1_0 }, { dialect: v0_3 }, { dialect: v0_3_rest }];

const throughText = (wire: unknown): unknown => JSON.parse(JSON.stringify(wire)) as unknown;

/** Any of each thing and its both directions; the reader of an event may put a task before it. */
const codecs: {
  [K in keyof Things]: {
    any: fc.Arbitrary<Things[K]>;
    write: (dialect: Dialect, thing: Things[K]) => unknown;
    read: (dialect: Dialect, wire: unknown) => Things[K] | undefined;
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

const things = Object.keys(codecs) as (keyof Things)[];

function leave<K extends keyof Things>(row: Row, name: K, thing: Things[K]): Things[K] {
  const rule = row.leaves?.[name];
  return rule ? rule(thing) : thing;
}

function travels(name: keyof Things, ...through: Row[]): boolean {
  return through.every((row) => row.leaves?.[name] !== false);
}

function check<K extends keyof Things>(name: K, body: (thing: Things[K]) => void): void {
  fc.assert(fc.property(codecs[name].any, body), { numRuns: name === 'card' || name === 'task' ? 60 : 100 });
}

describe.each(rows.map((row) => [row.dialect.name, row] as const))('%s', (_name, row) => {
  it.each(things.filter((name) => travels(name, row)))('reads every %s that it wrote', (name) => {
    check(name, (thing) => {
      const wire = throughText(codecs[name].write(row.dialect, thing as never));
      expect(codecs[name].read(row.dialect, wire)).toEqual(leave(row, name, thing));
    });
  });
});

const pairs = rows.flatMap((from) => rows.filter((to) => to !== from).map((to) => ({ from, to })));

describe.each(pairs.map(({ from, to }) => [from.dialect.name, to.dialect.name, { from, to }] as const))(
  '%s through %s',
  (_from, _to, { from, to }) => {
    it.each(things.filter((name) => travels(name, from, to)))('gives the same text of every %s', (name) => {
      check(name, (thing) => {
        const { read, write } = codecs[name];
        const sent = throughText(write(from.dialect, thing as never));
        const there = throughText(write(to.dialect, read(from.dialect, sent) as never));
        const back = throughText(write(from.dialect, read(to.dialect, there) as never));
        const left = leave(to, name, leave(from, name, thing));
        expect(back).toEqual(throughText(write(from.dialect, left as never)));
      });
    });
  },
);
