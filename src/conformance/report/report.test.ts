import Ajv from 'ajv';
import { describe, expect, it } from 'vitest';
import type { Rule, RuleResult } from '../model.ts';
import type { RunOutcome } from '../run.ts';
import type { Exchange } from '../wire/exchange.ts';
import { compareReports } from '../baseline.ts';
import { type ConformanceReport, isConformant, readReport, reportOf, resultsOf } from './report.ts';
import { Secrets } from '../../protocol/secrets.ts';
import { forms, writeReport } from './write.ts';

const secret = 'tok_live_4711_"quoted"';
const headers = { authorization: `Bearer ${secret}`, 'x-tenant-pass': 'p4ssw0rd-of-them' };
const nasty = `<script>alert(1)</script> | \`tick\` ]]> & ${secret} \u0000\u001B[2J`;

const exchange: Exchange = {
  number: 1,
  method: 'POST',
  url: 'https://user:hunter22@agent.example/rpc?api_key=abcdefgh&x=1',
  requestHeaders: { ...headers, 'content-type': 'application/json', cookie: 'sid=1234567890' },
  requestBody: JSON.stringify({ params: { text: "it's", echo: secret, token: 'hook-token-1' } }),
  status: 200,
  headers: { 'set-cookie': 'sid=999999', 'content-type': 'application/json' },
  body: JSON.stringify({ result: { said: nasty, accessToken: 'at-123', note: 'p4ssw0rd-of-them' } }),
  isBroken: false,
  frames: [],
  end: 'complete',
  trouble: undefined,
  headAfter: 1,
  endAfter: 2.4,
};

function result(id: string, verdict: RuleResult['verdict'], more: Partial<Rule> = {}): RuleResult {
  const rule: Rule = {
    id,
    requirements: ['SEND-001'],
    section: '3.1.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'It is answered.',
    remedy: 'Answer it.',
    ...more,
  };
  const isBroken = verdict === 'fail' || verdict === 'warn';
  return {
    rule,
    version: '1.0',
    transport: rule.category === 'agent-card' ? undefined : 'JSONRPC',
    verdict,
    message: verdict === 'pass' ? '' : `Seen: ${nasty}`,
    violations: isBroken
      ? [
          { message: nasty, expected: 'a task', actual: nasty, exchanges: [exchange] },
          { message: 'and again', exchanges: [] },
        ]
      : [],
    looked: 1,
    milliseconds: 12.4,
  };
}

const outcome: RunOutcome = {
  url: 'https://agent.example',
  cards: [
    { url: 'https://agent.example/card.json', version: '1.0', card: { name: nasty, version: '1.2.3' } },
  ],
  lanes: [{ version: '1.0', transport: 'JSONRPC', url: 'https://agent.example/rpc' }],
  results: [
    result('card.members', 'pass', { category: 'agent-card' }),
    result('send.answers', 'pass'),
    result('cancel.running', 'fail'),
    result('validation.role', 'warn', { level: 'SHOULD', category: 'error-handling' }),
    result('stream.opens', 'not-applicable', { category: 'streaming' }),
    result('turn.goes-on', 'inconclusive'),
    result('list.finds', 'error'),
  ],
  warnings: [nasty],
  unreachable: undefined,
  messages: 3,
  requests: 9,
  milliseconds: 1_234.5,
  began: '2026-01-02T03:04:05.678Z',
};
const about = {
  suite: 'dragoman 0.1.0',
  command: `dragoman conformance --header 'Authorization: Bearer ${secret}'`,
  secrets: new Secrets(headers),
};
const report = reportOf(outcome, about);

describe('a report', () => {
  it('has what other tools read', () => {
    expect(report).toMatchObject({
      agentUrl: 'https://agent.example',
      agentVersion: '1.2.3',
      testDate: '2026-01-02T03:04:05.678Z',
      summary: { total: 7, passed: 3, failed: 1, skipped: 3 },
      conformanceLevel: 'minimal',
    });
    expect(Object.keys(report.categories)).toEqual([
      'agentCard',
      'lifecycle',
      'streaming',
      'errorHandling',
      'interop',
    ]);
    expect(report.categories.errorHandling[0]).toMatchObject({
      test: 'validation.role',
      category: 'error-handling',
      status: 'pass',
      verdict: 'warn',
      duration_ms: 12,
    });
    expect(report.categories.streaming[0]).toMatchObject({ status: 'skip', verdict: 'not-applicable' });
    expect(report.categories.lifecycle.map(({ status }) => status)).toEqual(['pass', 'fail', 'skip', 'skip']);
    expect(isConformant(report)).toBe(false);
  });

  it('shows how to see it again, with secrets as variables of the shell', () => {
    const { curl = '' } = report.categories.lifecycle[1] ?? {};
    expect(curl).toContain('-X POST');
    expect(curl).toContain('-H "authorization: $AUTHORIZATION"');
    expect(curl).toContain(String.raw`it'\''s`);
  });

  it.each(forms)('as %s holds no secret', (form) => {
    const text = writeReport(report, form);
    for (const each of [
      'tok_live',
      'p4ssw0rd',
      'hunter22',
      'abcdefgh',
      '1234567890',
      '999999',
      'hook-token',
      'at-123',
    ])
      expect(text).not.toContain(each);
  });

  it('can be read again, and anything else cannot', () => {
    expect(readReport(writeReport(report, 'json'))).toEqual(report);
    expect(readReport('{}')).toBeUndefined();
    expect(readReport('no')).toBeUndefined();
    expect(readReport('{"categories":{"agentCard":[1]}}')).toBeUndefined();
  });

  it('of an agent that is not there has no verdict in any form', () => {
    const none = reportOf(
      { ...outcome, results: [], lanes: [], cards: [], unreachable: 'Nobody answers.' },
      about,
    );
    expect(isConformant(none)).toBe(false);
    for (const form of forms.filter((each) => each !== 'badge'))
      expect(writeReport(none, form)).toContain('Nobody answers.');
    expect(writeReport(none, 'badge')).toContain('no answer');
  });
});

describe('markdown', () => {
  it('has the table of failures, and no markup of the agent', () => {
    const text = writeReport(report, 'markdown');
    expect(text).toContain('| Test | Category | Message | Recommendation | Where |');
    expect(text).toMatch(
      /^\| cancel\.running \| lifecycle \| Seen: \\<script\\>.* \| Answer it\. \| 1\.0 JSONRPC \|$/m,
    );
    const outside = text.replaceAll(/(`+)[^`]?.*?\1/gs, '');
    expect(outside).not.toContain('<script>'.replace('<', ' <'));
  });
});

describe('HTML', () => {
  const html = writeReport(report, 'html');

  it('lets no text of an agent become a part of the page', () => {
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain(`default-src 'none'`);
  });

  it('loads nothing and asks nobody', () => {
    expect(html).not.toMatch(/<(?:link|img|iframe|object|embed)\b|\bsrc=|@import|url\(/);
  });

  it('has every part, dark and light, on paper too', () => {
    for (const id of ['fix', 'matrix', 'open', 'card', 'timings', 'provenance'])
      expect(html).toContain(`<section id="${id}">`);
    expect(html).toContain('prefers-color-scheme:dark');
    expect(html).toContain('@media print');
    expect(html).toContain('Read this first');
  });
});

describe('JUnit', () => {
  const xml = writeReport(report, 'junit');

  it('is well-formed and has the elements in the order that build servers want', () => {
    const stack: string[] = [];
    const order: string[] = [];
    for (const [, close, name = '', , isEmpty] of xml.matchAll(
      /<(\/?)([\w-]+)((?:\s[\w-]+="[^"<]*")*)\s*(\/?)>/g,
    )) {
      if (close === '/') expect(stack.pop()).toBe(name);
      else {
        order.push([...stack, name].join('/'));
        if (isEmpty !== '/') stack.push(name);
      }
    }
    expect(stack).toEqual([]);
    const allowed = [
      'testsuites',
      'testsuites/testsuite',
      'testsuites/testsuite/properties',
      'testsuites/testsuite/properties/property',
      'testsuites/testsuite/testcase',
      'testsuites/testsuite/testcase/properties',
      'testsuites/testsuite/testcase/properties/property',
      'testsuites/testsuite/testcase/failure',
      'testsuites/testsuite/testcase/error',
      'testsuites/testsuite/testcase/skipped',
      'testsuites/testsuite/testcase/system-out',
    ];
    expect([...new Set(order)].filter((each) => !allowed.includes(each))).toEqual([]);
    expect(xml.replaceAll(/<[^>]*>/g, '')).not.toMatch(/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/);
    expect(xml).not.toContain('\u0000');
  });

  it('counts what it has', () => {
    expect(xml).toContain('tests="7" failures="1" errors="1" skipped="2"');
    expect(xml.match(/<testcase /g)).toHaveLength(7);
    expect(xml.match(/<property name="section"/g)).toHaveLength(7);
  });
});

describe('SARIF', () => {
  const text = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } };
  const level = { enum: ['none', 'note', 'warning', 'error'] };
  const schema = {
    type: 'object',
    required: ['version', 'runs'],
    properties: {
      version: { const: '2.1.0' },
      $schema: { type: 'string' },
      runs: {
        type: 'array',
        items: {
          type: 'object',
          required: ['tool', 'results'],
          additionalProperties: false,
          properties: {
            tool: {
              type: 'object',
              required: ['driver'],
              properties: {
                driver: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    rules: {
                      type: 'array',
                      uniqueItems: true,
                      items: {
                        type: 'object',
                        required: ['id'],
                        additionalProperties: false,
                        properties: {
                          id: { type: 'string' },
                          shortDescription: text,
                          fullDescription: text,
                          help: text,
                          defaultConfiguration: { type: 'object', properties: { level } },
                          properties: { type: 'object' },
                        },
                      },
                    },
                  },
                },
              },
            },
            invocations: {
              type: 'array',
              items: { type: 'object', required: ['executionSuccessful'] },
            },
            results: {
              type: 'array',
              items: {
                type: 'object',
                required: ['message'],
                additionalProperties: false,
                properties: {
                  ruleId: { type: 'string' },
                  ruleIndex: { type: 'integer', minimum: -1 },
                  level,
                  message: text,
                  locations: {
                    type: 'array',
                    items: {
                      type: 'object',
                      required: ['physicalLocation'],
                      properties: {
                        physicalLocation: {
                          type: 'object',
                          required: ['artifactLocation'],
                          properties: {
                            region: {
                              type: 'object',
                              properties: { startLine: { type: 'integer', minimum: 1 } },
                            },
                          },
                        },
                      },
                    },
                  },
                  partialFingerprints: { type: 'object', additionalProperties: { type: 'string' } },
                  properties: { type: 'object' },
                },
              },
            },
            properties: { type: 'object' },
          },
        },
      },
    },
  };

  it('is as 2.1.0 wants it, and its results point at their rules', () => {
    const sarif = JSON.parse(writeReport(report, 'sarif'));
    const validate = new Ajv.default({ strict: false }).compile(schema);
    expect(validate(sarif), JSON.stringify(validate.errors)).toBe(true);
    const [run] = sarif.runs;
    expect(run.results).toHaveLength(2);
    for (const each of run.results) expect(run.tool.driver.rules[each.ruleIndex].id).toBe(each.ruleId);
  });
});

describe('two reports', () => {
  const change = (verdict: RuleResult['verdict']): ConformanceReport =>
    reportOf({ ...outcome, results: [result('send.answers', verdict)] }, about);

  it.each([
    ['pass', 'fail', { worse: 1, mended: 0, known: 0, lost: 0 }],
    ['fail', 'pass', { worse: 0, mended: 1, known: 0, lost: 0 }],
    ['fail', 'fail', { worse: 0, mended: 0, known: 1, lost: 0 }],
    ['pass', 'inconclusive', { worse: 0, mended: 0, known: 0, lost: 1 }],
    ['fail', 'inconclusive', { worse: 0, mended: 0, known: 0, lost: 1 }],
    ['pass', 'warn', { worse: 1, mended: 0, known: 0, lost: 0 }],
  ] as const)('from %s to %s', (before, after, counts) => {
    const found = compareReports(change(before), change(after));
    expect(Object.fromEntries(Object.entries(found).map(([name, list]) => [name, list.length]))).toEqual(
      counts,
    );
  });

  it('take what nobody looked at before for worse when it is broken', () => {
    const empty = reportOf({ ...outcome, results: [] }, about);
    expect(compareReports(empty, change('fail')).worse).toHaveLength(1);
    expect(resultsOf(empty)).toEqual([]);
  });
});
