import { describe, expect, it } from 'vitest';
import { checkHistory } from './check-history.ts';
import { type AuditEntry, ChaosHistory, type LoggedChange, type StoredLog } from './history.ts';
import { digestOf, LogView } from './log-view.ts';

const status = (sequence: number, state: string): LoggedChange => ({
  kind: 'status',
  sequence,
  status: { state },
});

const chunk = (sequence: number, text: string): LoggedChange => ({
  kind: 'artifact',
  sequence,
  artifact: { artifactId: 'out', parts: [{ text }] },
  append: sequence > 3,
});

/** A run that another process has continued after the first chunk, as all clients saw it. */
class Scene {
  changes: LoggedChange[] = [
    {
      kind: 'task',
      sequence: 1,
      task: { status: { state: 'submitted' }, history: [{ messageId: 'm', parts: [{ text: 'echo 2' }] }] },
    },
    status(2, 'working'),
    chunk(3, '0;'),
    chunk(4, '1;'),
    status(5, 'completed'),
  ];
  audit: AuditEntry[] = [
    { kind: 'holder', process: 'a' },
    ...[1, 2, 3].map((sequence) => ({ kind: 'write', sequence, process: 'a' }) as const),
    { kind: 'holder', process: 'b' },
    ...[4, 5].map((sequence) => ({ kind: 'write', sequence, process: 'b' }) as const),
  ];
  runs = [
    { kind: 'process', taskId: 't', messageId: 'm' } as const,
    { kind: 'resume', taskId: 't', messageId: 'm' } as const,
  ];
  history = new ChaosHistory();

  constructor() {
    const { history } = this;
    history.messages.push({ messageId: 'm', taskId: 't' });
    history.outcomes.push({ taskId: 't', state: 'completed', text: '0;1;' });
    history.streams.push({ name: 's', taskId: 't', after: 0, isComplete: true });
    for (const { sequence, digests } of new LogView(this.changes).positions)
      this.show(sequence, digests[0] ?? '', sequence);
    history.tasks.push({ taskId: 't', snapshot: 'working 0;', since: 3.5 });
    history.tasks.push({ taskId: 't', snapshot: 'completed 0;1;', since: 6 });
    history.webhooks.push({ path: '/all', taskId: 't', after: 0, hasArtifacts: true });
    history.webhooks.push({ path: '/old', taskId: 't', after: 0, hasArtifacts: false });
    for (const sequence of [1, 2, 2, 3, 4, 3, 5])
      history.deliveries.push({ path: '/all', taskId: 't', sequence });
    for (const sequence of [1, 2, 5]) history.deliveries.push({ path: '/old', taskId: 't', sequence });
  }

  show(sequence: number, digest: string, at: number): void {
    this.history.events.push({ stream: 's', taskId: 't', sequence, digest, at });
  }

  /** Returns the rules that the checker reports. */
  check(): string[] {
    const { changes, audit, runs } = this;
    const last = new LogView(changes).last;
    const log: StoredLog = { id: 't', state: last?.state ?? '', sequence: changes.length, changes, audit };
    const violations = checkHistory(this.history, { logs: new Map([['t', log]]), runs });
    return [...new Set(violations.map(({ rule }) => rule))].toSorted();
  }
}

const faults: readonly [string, string[], (scene: Scene) => void][] = [
  [
    'a write of a process that is not the holder any more',
    ['the holder writes'],
    ({ audit }) => audit.splice(-1, 0, { kind: 'write', sequence: 4, process: 'a' }),
  ],
  [
    'a subscriber that waits for a lost notification',
    ['subscribers miss nothing'],
    ({ history }) => {
      history.events.splice(-2);
      if (history.streams[0]) history.streams[0].isComplete = false;
    },
  ],
  [
    'a read from an old cache',
    ['reads are current'],
    ({ history }) => history.tasks.push({ taskId: 't', snapshot: 'working 0;', since: 4.5 }),
  ],
  [
    'a read of a state that never was',
    ['reads are current'],
    ({ history }) => history.tasks.push({ taskId: 't', snapshot: 'working 1;', since: 1 }),
  ],
  [
    'a known task that is not found',
    ['reads are current'],
    ({ history }) => history.tasks.push({ taskId: 't', snapshot: undefined, since: 1 }),
  ],
  [
    'a second terminal event',
    ['tasks end once'],
    ({ changes, history }) => {
      changes.push(status(6, 'completed'));
      for (const path of ['/all', '/old']) history.deliveries.push({ path, taskId: 't', sequence: 6 });
    },
  ],
  [
    'an event after the end',
    ['tasks end once'],
    ({ changes, history }) => {
      changes.push({ ...chunk(6, '') });
      history.deliveries.push({ path: '/all', taskId: 't', sequence: 6 });
    },
  ],
  [
    'a task that does not end',
    ['shown events are stored', 'tasks end once', 'reads are current'],
    ({ changes }) => changes.pop(),
  ],
  [
    'an event that was shown and lost',
    ['shown events are stored'],
    (scene) => scene.show(6, digestOf({ kind: 'artifact', text: 'lost' }), 7),
  ],
  [
    'an event with other content than stored',
    ['shown events are stored'],
    ({ history }) => {
      const [event] = history.events.splice(3, 1);
      if (event)
        history.events.splice(3, 0, { ...event, digest: digestOf({ kind: 'artifact', text: '2;' }) });
    },
  ],
  [
    'a subscriber that missed an event',
    ['subscribers miss nothing'],
    ({ history }) => history.events.splice(2, 1),
  ],
  [
    'an event that a subscriber was shown twice',
    ['subscribers miss nothing'],
    ({ history }) => history.events.splice(3, 0, ...history.events.slice(2, 3)),
  ],
  ['a gap in the log', ['tasks end once'], ({ changes }) => changes.splice(3, 1, chunk(7, '1;'))],
  [
    'output that was stored twice',
    ['tasks end once'],
    ({ changes, history }) => {
      changes.splice(3, 2, chunk(4, '0;1;'), status(5, 'completed'));
      history.events.splice(3, 1, {
        stream: 's',
        taskId: 't',
        sequence: 4,
        digest: digestOf({ kind: 'artifact', text: '0;1;' }),
        at: 4,
      });
      history.tasks.splice(-1);
    },
  ],
  [
    'a message that two processes ran',
    ['messages run once'],
    ({ runs }) => runs.push({ kind: 'process', taskId: 't', messageId: 'm' }),
  ],
  [
    'a run that was resumed without a takeover',
    ['messages run once'],
    ({ runs }) => runs.push({ kind: 'resume', taskId: 't', messageId: 'm' }),
  ],
  [
    'an accepted message that is not stored',
    ['messages run once'],
    ({ history }) => history.messages.push({ messageId: 'n', taskId: 't' }),
  ],
  [
    'an accepted task that is not stored',
    ['tasks end once'],
    ({ history }) => history.messages.push({ messageId: 'n', taskId: 'u' }),
  ],
  [
    'a webhook that missed an event',
    ['webhooks miss nothing'],
    ({ history }) => history.deliveries.splice(4, 1),
  ],
  [
    'a webhook that received events in the wrong order',
    ['webhooks miss nothing'],
    ({ history }) => history.deliveries.splice(0, 2, ...history.deliveries.slice(0, 2).toReversed()),
  ],
];

describe('checkHistory', () => {
  it('accepts a task that two processes ran, with repeated deliveries', () => {
    expect(new Scene().check()).toEqual([]);
  });

  it.each(faults)('finds %s', (_name, rules, inject) => {
    const scene = new Scene();
    inject(scene);
    expect(scene.check()).toEqual(expect.arrayContaining(rules));
  });
});
