import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  diagnosticsFor,
  openScriptedConversation,
} from '../../../test/support/testkit/scripted-conversation.ts';

const rule = (text: string): string => `rules:\n  - name: a\n${text.replaceAll(/^/gm, '    ')}\n`;

describe('script diagnostics', () => {
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
      '4:7: rules[0].when.text: must have one of exact, contains, prefix and regex',
    ],
    [
      'a wrong type',
      rule('when:\n  text: 5\nthen: []'),
      '4:7: rules[0].when.text: expected a string, or one of exact, contains, prefix and regex',
    ],
    [
      'two actions in one entry',
      rule('then:\n  - say: a\n    wait: 1s'),
      '4:9: rules[0].then[0]: must be exactly one action, is say and wait; start each action with a dash',
    ],
    ['a rule without actions', rule('when: {}'), '2:5: rules[0]: must have then, sequence or fault'],
    [
      'then with a sequence',
      rule('then: []\nsequence:\n  - then: []'),
      '4:5: rules[0].sequence: must not be combined with then',
    ],
    [
      'cycle without a sequence',
      rule('then: []\ncycle: true'),
      '2:5: rules[0]: cycle and sequence_scope need a sequence',
    ],
    [
      'a duplicate rule name',
      'rules:\n  - { name: a, then: [] }\n  - { name: a, then: [] }\n',
      '3:7: rules[1].name: duplicate rule name a',
    ],
    [
      'an invalid regular expression',
      rule('when:\n  text: { regex: "(" }\nthen: []'),
      '4:15: rules[0].when.text.regex: Invalid regular expression: /(/: Unterminated group',
    ],
    [
      'an invalid data path',
      rule('when:\n  data: { path: "a..b" }\nthen: []'),
      '4:15: rules[0].when.data.path: must be a path such as order.items[0].sku',
    ],
    [
      'an invalid schema',
      rule('when:\n  data: { schema: { type: strng } }\nthen: []'),
      '4:15: rules[0].when.data.schema: Unsupported type: strng',
    ],
    [
      'a version that is a number',
      rule('when: { version: 0.3 }\nthen: []'),
      expect.stringMatching(/^3:13: rules\[0\]\.when\.version: /),
    ],
    [
      'an invalid duration',
      rule('then: [{ wait: soon }]'),
      expect.stringMatching(/^3:14: rules\[0\]\.then\[0\]\.wait: expected .*500ms/),
    ],
    [
      'an invalid template',
      rule('then:\n  - say: a\n  - complete: "{{message.txt}}"'),
      expect.stringMatching(
        /^5:9: rules\[0\]\.then\[1\]\.complete: \{\{message\.txt\}\}: message\.txt: must be followed/,
      ),
    ],
    [
      'a nested invalid template',
      rule('then:\n  - set:\n      a: [{ b: "{{nope}}" }]'),
      expect.stringMatching(
        /^5:17: rules\[0\]\.then\[0\]\.set\.a\[0\]\.b: \{\{nope\}\}: unknown variable nope/,
      ),
    ],
    [
      'a match without a regex',
      rule('when: { text: a }\nthen:\n  - complete: "{{match.1}}"'),
      expect.stringMatching(/^5:9: .*match needs a regex in when\.text/),
    ],
    [
      'a part with two contents',
      rule('then:\n  - say: { text: a, url: b }'),
      '4:9: rules[0].then[0].say: must have exactly one of text, data, url, base64 and file',
    ],
    [
      'invalid base64',
      rule('then:\n  - say: { base64: "a b" }'),
      '4:16: rules[0].then[0].say.base64: must be base64',
    ],
    [
      'an artifact with two contents',
      rule('then:\n  - artifact: { text: a, parts: [b] }'),
      '4:9: rules[0].then[0].artifact: must have either parts or one content, not both',
    ],
    [
      'an invalid event',
      rule('then:\n  - event:\n      kind: status-update\n      status: { state: happy }'),
      expect.stringMatching(/^6:21: rules\[0\]\.then\[0\]\.event\.status\.state: /),
    ],
    [
      'an action after the end',
      rule('then:\n  - complete: a\n  - set: { a: 1 }\n  - say: b'),
      expect.stringMatching(/^6:9: rules\[0\]\.then\[2\]: only `set` is allowed after the end/),
    ],
    [
      'a message with other events',
      rule('then:\n  - say: a\n  - message: b'),
      expect.stringMatching(/^5:9: rules\[0\]\.then\[1\]: a message is a response without a task/),
    ],
    [
      'an assignment that is never executed',
      rule('then:\n  - set: { a: 1 }\n  - abandon: true'),
      '4:9: rules[0].then[0]: is never executed, because there is no event before `abandon`',
    ],
    ['an unknown fault', rule('fault: { cutt: {} }'), expect.stringMatching(/^3:\d+: rules\[0\]\.fault/)],
    [
      'a client without a scheme',
      'agent:\n  security:\n    schemes: { a: { type: bearer }, b: { type: basic } }\n    clients:\n      - { name: x, secret: y }\n',
      '5:9: agent.security.clients[0]: scheme must be one of a, b',
    ],
  ])('have line, column and path: %s', (_name, text, diagnostic) => {
    const expected = typeof diagnostic === 'string' ? `script.yaml:${diagnostic}` : diagnostic;
    const found = diagnosticsFor(text).map((each) =>
      typeof diagnostic === 'string' ? each : each.replace('script.yaml:', ''),
    );
    expect(found).toEqual([expected]);
  });

  it('reports all errors of a script', () => {
    const text = rule('when: { text: { regex: "(" } }\nthen:\n  - say: "{{a}}"\n  - complete: "{{b}}"');
    expect(diagnosticsFor(text).map((each) => each.split(': ')[0])).toEqual([
      'script.yaml:3:21',
      'script.yaml:5:9',
      'script.yaml:6:9',
    ]);
  });

  it('reports too many rules', () => {
    const text = `rules:\n${'  - then: []\n'.repeat(3)}`;
    expect(diagnosticsFor(text, { maxRules: 2 })).toEqual([
      'script.yaml:1:1: rules: a script can have at most 2 rules',
    ]);
  });
});

describe('script attachments', () => {
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

  const withAttachment = (file: string): string =>
    rule(`then:\n  - artifact: { name: a.txt, file: "${file}" }`);

  it('sends the bytes of an attachment', () => {
    expect(openScriptedConversation(withAttachment('files/a.txt'), { folder }).send('x')[0]).toMatchObject({
      artifact: { name: 'a.txt', parts: [{ raw: 'aGVsbG8=', filename: 'a.txt' }] },
    });
  });

  it.each([
    ['missing.txt', 'file not found in the folder of the script'],
    ['files', 'is not a file'],
    ['../secret.txt', 'is outside of the folder of the script'],
    ['link.txt', 'is outside of the folder of the script'],
    ['/etc/hostname', 'is outside of the folder of the script'],
  ])('rejects an attachment: %s', (file, message) => {
    expect(diagnosticsFor(withAttachment(file), { folder })).toEqual([
      expect.stringMatching(
        `^script\\.yaml:4:\\d+: rules\\[0\\]\\.then\\[0\\]\\.artifact\\.file: ${message}`,
      ),
    ]);
  });

  it('rejects attachments above maxFileBytes', () => {
    expect(diagnosticsFor(withAttachment('files/a.txt'), { folder, maxFileBytes: 4 })[0]).toContain(
      'has more than 4 bytes',
    );
  });
});
