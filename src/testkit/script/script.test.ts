import { describe, expect, it } from 'vitest';
import { talkWith } from '../../../test/support/scripted-talk.ts';

describe('a rule', () => {
  it('answers the messages it is for', () => {
    const talk = talkWith(`
rules:
  - when: { text: hello }
    then:
      - say: "Working on {{message.text}}"
      - wait: 2s
      - artifact: { name: report.csv, text: "a,b", media_type: text/csv }
      - complete: "Done {{task.id}}"
`);
    expect(talk.send('hello')).toEqual([
      { kind: 'status', status: { state: 'working', message: talk.says('Working on hello') } },
      { wait: 2_000 },
      {
        kind: 'artifact',
        artifact: {
          artifactId: 'artifact-1-3',
          name: 'report.csv',
          parts: [{ text: 'a,b', filename: 'report.csv', mediaType: 'text/csv' }],
        },
        lastChunk: true,
      },
      { kind: 'status', status: { state: 'completed', message: talk.says('Done task-1') } },
    ]);
  });
});
