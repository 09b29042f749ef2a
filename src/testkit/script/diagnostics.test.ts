import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  diagnosticsFor,
  openScriptedConversation,
} from '../../../test/support/testkit/scripted-conversation.ts';

const rule = (text: string): string => `rules:\n  - name: a\n${text.replaceAll(/^/gm, '    ')}\n`;

describe('a mistake in a script', () => {
  it.each([
    ['an unknown key', 'rulez: []\n', '1:1: rulez: unknown key'],
    ['an unknown key of a rule', rule('then: []\nthan: []'), '4:5: rules[0].than: unknown key'],
    ['an unknown condition', rule('when:\n  txt: a\nthen: []'), '4:7: rules[0].when.txt: unknown key'],
    ['an unknown action', rule('then:\n  - sey: a'), '4:9: rules[0].then[0].sey: unknown key'],
    [
      'an unknown matcher',
      rule('when: { text: { like: a } }\nthen: []'),
      '3:21: rules[0].when.text.like: unknown key',
    ],
    [
      'an empty matcher',
      rule('when:\n  text: {}\nthen: []'),
      '4:7: rules[0].when.text: has to say what is expected: exact, contains, prefix or regex',
    ],
    [
      'a wrong kind',
      rule('when:\n  text: 5\nthen: []'),
      '4:7: rules[0].when.text: expected a text, or one of exact, contains, prefix and regex',
    ],
    [
      'two things to do at once',
      rule('then:\n  - say: a\n    wait: 1s'),
      '4:9: rules[0].then[0]: has to be one thing to do, is say and wait; begin each with a dash',
    ],
    ['nothing to do', rule('when: {}'), '2:5: rules[0]: has to say what to do: then, sequence or fault'],
    [
      'then beside a sequence',
      rule('then: []\nsequence:\n  - then: []'),
      '4:5: rules[0].sequence: stands instead of then, not beside it',
    ],
    [
      'cycle without a sequence',
      rule('then: []\ncycle: true'),
      '2:5: rules[0]: cycle and counts_by are for a sequence',
    ],
    [
      'two rules of a name',
      'rules:\n  - { name: a, then: [] }\n  - { name: a, then: [] }\n',
      '3:7: rules[1].name: there is another rule a',
    ],
    [
      'a regular expression',
      rule('when:\n  text: { regex: "(" }\nthen: []'),
      '4:15: rules[0].when.text.regex: Invalid regular expression: /(/: Unterminated group',
    ],
    [
      'a way',
      rule('when:\n  data: { path: "a..b" }\nthen: []'),
      '4:15: rules[0].when.data.path: expected a way such as order.items[0].sku',
    ],
    [
      'a schema',
      rule('when:\n  data: { schema: { type: strng } }\nthen: []'),
      '4:15: rules[0].when.data.schema: Unsupported type: strng',
    ],
    [
      'a version that is a number',
      rule('when: { version: 0.3 }\nthen: []'),
      expect.stringMatching(/^3:13: rules\[0\]\.when\.version: /),
    ],
    [
      'a duration',
      rule('then: [{ wait: soon }]'),
      expect.stringMatching(/^3:14: rules\[0\]\.then\[0\]\.wait: expected .*500ms/),
    ],
    [
      'a template',
      rule('then:\n  - say: a\n  - complete: "{{message.txt}}"'),
      expect.stringMatching(
        /^5:9: rules\[0\]\.then\[1\]\.complete: \{\{message\.txt\}\}: message\.txt: has to be followed/,
      ),
    ],
    [
      'a template far inside',
      rule('then:\n  - set:\n      a: [{ b: "{{nope}}" }]'),
      expect.stringMatching(/^5:17: rules\[0\]\.then\[0\]\.set\.a\[0\]\.b: \{\{nope\}\}: there is no nope/),
    ],
    [
      'a match without a regex',
      rule('when: { text: a }\nthen:\n  - complete: "{{match.1}}"'),
      expect.stringMatching(/^5:9: .*there is no regex in when\.text/),
    ],
    [
      'a part with two contents',
      rule('then:\n  - say: { text: a, url: b }'),
      '4:9: rules[0].then[0].say: has to have exactly one of text, data, url, base64 and file',
    ],
    ['base64', rule('then:\n  - say: { base64: "a b" }'), '4:16: rules[0].then[0].say.base64: is no base64'],
    [
      'an artifact with two contents',
      rule('then:\n  - artifact: { text: a, parts: [b] }'),
      '4:9: rules[0].then[0].artifact: has either parts or one content of its own, not both',
    ],
    [
      'an event',
      rule('then:\n  - event:\n      kind: status-update\n      status: { state: happy }'),
      expect.stringMatching(/^6:21: rules\[0\]\.then\[0\]\.event\.status\.state: /),
    ],
    [
      'something after the end',
      rule('then:\n  - complete: a\n  - set: { a: 1 }\n  - say: b'),
      expect.stringMatching(/^6:9: rules\[0\]\.then\[2\]: comes after the end/),
    ],
    [
      'a message beside a task',
      rule('then:\n  - say: a\n  - message: b'),
      expect.stringMatching(/^5:9: rules\[0\]\.then\[1\]: a message is an answer without a task/),
    ],
    [
      'something that is never remembered',
      rule('then:\n  - set: { a: 1 }\n  - hang_up: true'),
      '4:9: rules[0].then[0]: is never done, because nothing is said before hanging up',
    ],
    ['a fault', rule('fault: { cutt: {} }'), expect.stringMatching(/^3:\d+: rules\[0\]\.fault/)],
    [
      'a caller without a scheme',
      'agent:\n  security:\n    schemes: { a: { type: bearer }, b: { type: basic } }\n    callers:\n      - { name: x, secret: y }\n',
      '5:9: agent.security.callers[0]: has to have a scheme that is one of a, b',
    ],
  ])('is found where it stands: %s', (_what, text, complaint) => {
    const told = typeof complaint === 'string' ? `script.yaml:${complaint}` : complaint;
    const found = diagnosticsFor(text).map((each) =>
      typeof complaint === 'string' ? each : each.replace('script.yaml:', ''),
    );
    expect(found).toEqual([told]);
  });

  it('is not the only one that is told', () => {
    const text = rule('when: { text: { regex: "(" } }\nthen:\n  - say: "{{a}}"\n  - complete: "{{b}}"');
    expect(diagnosticsFor(text).map((each) => each.split(': ')[0])).toEqual([
      'script.yaml:3:21',
      'script.yaml:5:9',
      'script.yaml:6:9',
    ]);
  });

  it('may be that there are too many rules', () => {
    const text = `rules:\n${'  - then: []\n'.repeat(3)}`;
    expect(diagnosticsFor(text, { maxRules: 2 })).toEqual([
      'script.yaml:1:1: rules: a script may have 2 rules',
    ]);
  });
});

describe('a file beside a script', () => {
  let folder: string;
  beforeAll(() => {
    const outer = mkdtempSync(join(tmpdir(), 'dragoman-script-'));
    folder = join(outer, 'scripts');
    mkdirSync(join(folder, 'files'), { recursive: true });
    writeFileSync(join(folder, 'files', 'a.txt'), 'hello');
    writeFileSync(join(outer, 'secret.txt'), 'secret');
    symlinkSync(join(outer, 'secret.txt'), join(folder, 'link.txt'));
  });
  afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

  const giving = (file: string): string => rule(`then:\n  - artifact: { name: a.txt, file: "${file}" }`);

  it('is given with its bytes', () => {
    expect(openScriptedConversation(giving('files/a.txt'), { folder }).send('x')[0]).toMatchObject({
      artifact: { name: 'a.txt', parts: [{ raw: 'aGVsbG8=', filename: 'a.txt' }] },
    });
  });

  it.each([
    ['missing.txt', 'there is no such file beside the script'],
    ['files', 'is no file'],
    ['../secret.txt', 'lies outside of the folder of the script'],
    ['link.txt', 'lies outside of the folder of the script'],
    ['/etc/hostname', 'lies outside of the folder of the script'],
  ])('is not %s', (file, complaint) => {
    expect(diagnosticsFor(giving(file), { folder })).toEqual([
      expect.stringMatching(
        `^script\\.yaml:4:\\d+: rules\\[0\\]\\.then\\[0\\]\\.artifact\\.file: ${complaint}`,
      ),
    ]);
  });

  it('has a limit', () => {
    expect(diagnosticsFor(giving('files/a.txt'), { folder, maxFileBytes: 4 })[0]).toContain(
      'has more than 4 bytes',
    );
  });
});
