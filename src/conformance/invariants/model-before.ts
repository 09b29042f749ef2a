import type { Version } from '../model.ts';
import { defineInvariants, type Invariant, type Sighting } from '../sighting.ts';
import type { Flaw, Shape } from './shape.ts';
import { event0_1, task0_1 } from './shapes-0_1.ts';
import { byKind, task0_3 } from './shapes-0_3.ts';

const known = new WeakMap<Sighting, readonly Flaw[] | undefined>();

function shapeFor(sighting: Sighting): { shape: Shape; value: unknown } | undefined {
  const is03 = sighting.speech.version === '0.3';
  if (sighting.kind === 'event') return { shape: is03 ? byKind : event0_1, value: sighting.event.raw };
  if (sighting.kind !== 'answer' || sighting.heard.result === undefined) return undefined;
  const { operation, heard } = sighting;
  if (operation === 'send') return { shape: is03 ? byKind : task0_1, value: heard.result };
  if (operation === 'get' || operation === 'cancel')
    return { shape: is03 ? task0_3 : task0_1, value: heard.result };
  return undefined;
}

function flawsOf(sighting: Sighting): readonly Flaw[] | undefined {
  if (known.has(sighting)) return known.get(sighting);
  const found = shapeFor(sighting);
  let flaws: Flaw[] | undefined;
  if (found) found.shape(found.value, 'result', (flaws = []));
  known.set(sighting, flaws);
  return flaws;
}

type Row = readonly [tag: string, section: string, sentence: string, remedy: string];

const rows: { readonly [version in Exclude<Version, '1.0'>]: readonly Row[] } = {
  '0.3': [
    ['task', '6.1', 'A task has an id, a contextId and a status.', 'Send all three with every task.'],
    ['status', '6.2', 'A status has a state that the protocol knows.', 'Use the names of TaskState.'],
    [
      'message',
      '6.4',
      'A message has a messageId, a role and parts.',
      'Give every message of the agent a messageId.',
    ],
    [
      'part',
      '6.5',
      'A part has a kind, and what that kind names; a file has either bytes or a uri.',
      'Send {"kind": "text", "text": …} and the like.',
    ],
    ['artifact', '6.7', 'An artifact has an artifactId and parts.', 'Give each artifact an id of its own.'],
    [
      'kind',
      '6',
      'Everything that can be told apart says its kind.',
      'Send kind: task, message, status-update or artifact-update.',
    ],
    [
      'event',
      '7.2.2',
      'An update names its task and its context.',
      'Send taskId and contextId with every update.',
    ],
    [
      'final',
      '7.2.2',
      'A status update says whether it is the last.',
      'Send final with every status update.',
    ],
    ['timestamp', '6.2', 'Moments are texts of ISO 8601.', 'Write 2026-01-31T12:00:00.000Z.'],
    ['metadata', '6', 'Metadata is an object.', 'Send an object, or nothing.'],
  ],
  '0.1': [
    ['task', 'Task', 'A task has an id and a status.', 'Send both with every task.'],
    [
      'status',
      'TaskStatus',
      'A status has a state that the protocol knows.',
      'Use submitted, working, input-required, completed, canceled, failed or unknown.',
    ],
    ['message', 'Message', 'A message has a role and parts.', 'Send both.'],
    [
      'part',
      'Part',
      'A part has a type, and what that type names.',
      'Send {"type": "text", "text": …} and the like.',
    ],
    ['artifact', 'Artifact', 'An artifact has parts.', 'Send parts with every artifact.'],
    [
      'event',
      'Streaming',
      'An update names its task, and has a status or an artifact.',
      'Send the id of the task with every update.',
    ],
    ['timestamp', 'TaskStatus', 'Moments are texts of ISO 8601.', 'Write 2026-01-31T12:00:00.000Z.'],
    ['metadata', 'Task', 'Metadata is an object.', 'Send an object, or nothing.'],
  ],
};

function invariantsOf(version: Exclude<Version, '1.0'>): Invariant[] {
  return rows[version].map(([tag, section, sentence, remedy]) => ({
    id: `${version}.${tag}`,
    requirements: [`${version}/${tag}`],
    section,
    level: 'MUST',
    category: 'lifecycle',
    sentence,
    remedy,
    versions: [version],
    // REST of 0.3 has the shapes of its protocol buffers, which no text of that version describes.
    transports: ['JSONRPC'],
    look: (sighting) =>
      flawsOf(sighting)
        ?.filter((flaw) => flaw.tag === tag)
        .map(({ message }) => message),
  }));
}

/** What the data models of the versions before 1.0 ask of everything that is sent. */
export const modelBeforeInvariants = defineInvariants([
  ...invariantsOf('0.3'),
  ...invariantsOf('0.1'),
  {
    id: 'stream.final',
    requirements: ['0.3/final-last', '0.1/final-last'],
    section: '7.2.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'The last event of a stream is a status with final true, and no other event has it.',
    remedy: 'Mark the status that ends the stream, and that one alone.',
    versions: ['0.3', '0.1'],
    look(sighting) {
      if (sighting.kind !== 'stream' || sighting.events.length === 0 || !sighting.isWhole) return undefined;
      const { events } = sighting;
      if (events.some(({ kind }) => kind === 'message')) return undefined;
      const marks = events.map((event) => event.kind === 'status' && event.final === true);
      const last = events.at(-1);
      // REST of 0.3 leaves out what is false, and some close with the task.
      if (last?.kind === 'task') return [];
      const wrong = marks.at(-1) ? [] : ['The last event is not marked as final'];
      if (marks.slice(0, -1).includes(true)) wrong.push('An event before the last one is marked as final');
      return wrong;
    },
  },
]);
