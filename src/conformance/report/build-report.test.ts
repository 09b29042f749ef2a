import { describe, expect, it } from 'vitest';
import type { ConformanceRule, RuleResult } from '../rule-model.ts';
import type { RunChecksOutcome } from '../run-checks.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { compareReports } from './compare-reports.ts';
import {
  type ConformanceReport,
  isConformant,
  readReport,
  buildReport,
  listResults,
} from './build-report.ts';
import { Redactor } from '../../primitives/redaction/redaction.ts';
import { reportFormats, writeReport } from './report-formats.ts';
import { junitErrors } from '../../../test/support/reports/junit-schema.ts';
import { sarifErrors } from '../../../test/support/reports/sarif-schema.ts';
import { parseXml } from '../../../test/support/reports/parse-xml.ts';

const secret = 'tok_live_4711_"quoted"';
const headers = { authorization: `Bearer ${secret}`, 'x-tenant-pass': 'p4ssw0rd-of-them' };
const hostileText = `<script>alert(1)</script> | \`tick\` ]]> & ${secret} \u0000\u001B[2J`;

const exchange: HttpExchange = {
  number: 1,
  method: 'POST',
  url: 'https://user:hunter22@agent.example/rpc?api_key=abcdefgh&x=1',
  requestHeaders: { ...headers, 'content-type': 'application/json', cookie: 'sid=1234567890' },
  requestBody: JSON.stringify({ params: { text: "it's", echo: secret, token: 'hook-token-1' } }),
  status: 200,
  headers: { 'set-cookie': 'sid=999999', 'content-type': 'application/json' },
  body: JSON.stringify({ result: { said: hostileText, accessToken: 'at-123', note: 'p4ssw0rd-of-them' } }),
  hasInvalidUtf8: false,
  frames: [],
  end: 'complete',
  transportError: undefined,
  headersMs: 1,
  totalMs: 2.4,
};

function result(id: string, verdict: RuleResult['verdict'], more: Partial<ConformanceRule> = {}): RuleResult {
  const rule: ConformanceRule = {
    id,
    requirements: ['SEND-001'],
    section: '3.1.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'The agent responds.',
    remedy: 'Respond.',
    ...more,
  };
  const isViolated = verdict === 'fail' || verdict === 'warn';
  return {
    rule,
    version: '1.0',
    transport: rule.category === 'agent-card' ? undefined : 'JSONRPC',
    verdict,
    message: verdict === 'pass' ? '' : `Actual: ${hostileText}`,
    violations: isViolated
      ? [
          { message: hostileText, expected: 'a task', actual: hostileText, exchanges: [exchange] },
          { message: 'second violation', exchanges: [] },
        ]
      : [],
    observations: 1,
    milliseconds: 12.4,
  };
}

const outcome: RunChecksOutcome = {
  url: 'https://agent.example',
  cards: [
    { url: 'https://agent.example/card.json', version: '1.0', card: { name: hostileText, version: '1.2.3' } },
  ],
  variants: [{ version: '1.0', transport: 'JSONRPC', url: 'https://agent.example/rpc' }],
  results: [
    result('card.members', 'pass', { category: 'agent-card' }),
    result('send.answers', 'pass'),
    result('cancel.running', 'fail'),
    result('validation.role', 'warn', { level: 'SHOULD', category: 'error-handling' }),
    result('stream.opens', 'not-applicable', { category: 'streaming' }),
    result('turn.goes-on', 'inconclusive'),
    result('list.finds', 'error'),
  ],
  warnings: [hostileText],
  unreachable: undefined,
  messages: 3,
  requests: 9,
  milliseconds: 1_234.5,
  startedAt: '2026-01-02T03:04:05.678Z',
};
const info = {
  suite: 'dragoman 0.1.0',
  command: `dragoman conformance --header 'Authorization: Bearer ${secret}'`,
  redactor: new Redactor(headers),
};
const report = buildReport(outcome, info);

describe('buildReport', () => {
  it('returns the members that other A2A test tools read', () => {
    expect(report).toMatchObject({
      agentUrl: 'https://agent.example',
      agentVersion: '1.2.3',
      testDate: '2026-01-02T03:04:05.678Z',
      summary: { total: 7, passed: 2, warned: 1, failed: 1, skipped: 3 },
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
      status: 'warn',
      verdict: 'warn',
      duration_ms: 12,
    });
    expect(report.categories.streaming[0]).toMatchObject({ status: 'skip', verdict: 'not-applicable' });
    expect(report.categories.lifecycle.map(({ status }) => status)).toEqual(['pass', 'fail', 'skip', 'skip']);
    expect(isConformant(report)).toBe(false);
  });

  it('returns a curl command with secrets as shell variables', () => {
    const { curl = '' } = report.categories.lifecycle[1] ?? {};
    expect(curl).toContain('-X POST');
    expect(curl).toContain('-H "authorization: $AUTHORIZATION"');
    expect(curl).toContain(String.raw`it'\''s`);
  });

  it.each(reportFormats)('contains no secrets in the format %s', (format) => {
    const text = writeReport(report, format);
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

  it('writes JSON that readReport parses; readReport returns undefined for other text', () => {
    expect(readReport(writeReport(report, 'json'))).toEqual(report);
    expect(readReport('{}')).toBeUndefined();
    expect(readReport('no')).toBeUndefined();
    expect(readReport('{"categories":{"agentCard":[1]}}')).toBeUndefined();
  });

  it('contains the reason instead of a verdict for an unreachable agent in every format', () => {
    const unreachable = buildReport(
      { ...outcome, results: [], variants: [], cards: [], unreachable: 'Connection refused.' },
      info,
    );
    expect(isConformant(unreachable)).toBe(false);
    for (const format of reportFormats.filter((each) => each !== 'badge'))
      expect(writeReport(unreachable, format)).toContain('Connection refused.');
    expect(writeReport(unreachable, 'badge')).toContain('unreachable');
  });
});

describe('Markdown report', () => {
  it('lists failures in a table and escapes markup of the agent', () => {
    const text = writeReport(report, 'markdown');
    expect(text).toContain('| Test | Category | Message | Recommendation | Variant |');
    expect(text).toMatch(
      /^\| cancel\.running \| lifecycle \| Actual: \\<script\\>.* \| Respond\. \| 1\.0 JSONRPC \|$/m,
    );
    const outside = text.replaceAll(/(`+)[^`]?.*?\1/gs, '');
    expect(outside).not.toContain('<script>'.replace('<', ' <'));
  });
});

describe('HTML report', () => {
  const html = writeReport(report, 'html');

  it('escapes text of the agent', () => {
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain(`default-src 'none'`);
  });

  it('loads no other resources', () => {
    expect(html).not.toMatch(/<(?:link|img|iframe|object|embed)\b|\bsrc=|@import|url\(/);
  });

  it('contains all sections, a dark scheme and a print layout', () => {
    for (const id of ['violations', 'rules', 'inconclusive', 'card', 'timings', 'provenance'])
      expect(html).toContain(`<section id="${id}">`);
    expect(html).toContain('prefers-color-scheme:dark');
    expect(html).toContain('@media print');
    expect(html).toContain('<b>Warning:</b>');
  });
});

/** Texts that break naive serializers: markup, CDATA ends, control characters, lone surrogates. */
const hostile = [
  '<![CDATA[x]]> ]]> <!-- --> <?pi?> &amp; &#0; &unknown; "\'',
  '\u0000\u0001\u0008\u000B\u001F\u007F\u0085\u009F\uFFFE\uFFFF',
  '\uD800 alone, \uDC00 alone, \u{1F30D} whole, \uDC00\uD800 turned',
  'line\r\nline\rline\u2028line\tend',
  '\uFEFFmark [[PROPERTY|level=MAY]]',
];
const hostileReport = buildReport(
  {
    ...outcome,
    url: `https://agent.example/${hostile[0] ?? ''}`,
    cards: [
      {
        url: `https://agent.example/ü ${hostile[2] ?? ''}`,
        version: '1.0',
        card: { name: hostile.join('') },
      },
    ],
    results: hostile.flatMap((text, index) =>
      (['fail', 'warn', 'inconclusive', 'error'] as const).map((verdict) => ({
        ...result(`send.hostile-${index}-${verdict}`, verdict),
        message: text,
        violations: [
          {
            message: text,
            expected: text,
            actual: text,
            exchanges: [{ ...exchange, url: text, body: text }],
          },
        ],
      })),
    ),
  },
  info,
);
const unreachableReport = buildReport(
  { ...outcome, results: [], variants: [], cards: [], unreachable: hostile.join('') },
  info,
);

describe('JUnit report', () => {
  const xml = writeReport(report, 'junit');

  it.each([
    ['all verdicts', report],
    ['hostile texts', hostileReport],
    ['an unreachable agent', unreachableReport],
  ])('writes well-formed XML that matches the Jenkins schema (%s)', (_name, each) => {
    expect(junitErrors(writeReport(each, 'junit'))).toEqual([]);
  });

  it('retains the valid characters of hostile texts', () => {
    const [, suite] = [...parseXml(writeReport(hostileReport, 'junit')).children, undefined].toReversed();
    const [first] = suite?.children.filter(({ name }) => name === 'testcase') ?? [];
    expect(first?.children[0]?.attributes.message).toContain(']]> <!-- -->');
  });

  it('writes a test case with properties for each rule and variant', () => {
    expect(xml.match(/<testcase /g)).toHaveLength(7);
    expect(xml.match(/\[\[PROPERTY\|section=/g)).toHaveLength(7);
  });

  it.each([
    ['<testsuites skipped="1"></testsuites>', 'testsuites: the attribute skipped is not allowed'],
    ['<testsuite tests="0" failures="0" errors="0"/>', 'testsuite: name! is missing'],
    [
      '<testsuite name="a" tests="1" failures="0" errors="0"><testcase name="x"><properties/></testcase></testsuite>',
      'testsuite/testcase[0]: <properties> is not allowed',
    ],
    [
      '<testsuite name="a" tests="2" failures="0" errors="0"><testcase name="x"/></testsuite>',
      'testsuite: tests is 2, there are 1',
    ],
    ['<testsuite name="a" tests="0" failures="0" errors="0" time="soon"/>', 'testsuite: the time is soon'],
  ])('junitErrors reports %s', (xml, error) => {
    expect(junitErrors(`<?xml version="1.0"?>${xml}`)).toContain(error);
  });

  it.each([
    '<a>]]></a>',
    '<a b="1" b="2"/>',
    '<a>&nbsp;</a>',
    '<a></b>',
    '<a/><b/>',
    '<a>\u0001</a>',
    '<a b="<"/>',
  ])('parseXml rejects %j', (xml) => {
    expect(() => parseXml(xml)).toThrow('line 1');
  });
});

describe('SARIF report', () => {
  const parseSarif = (each: ConformanceReport) => JSON.parse(writeReport(each, 'sarif'));

  it.each([
    ['all verdicts', report],
    ['hostile texts', hostileReport],
    ['an unreachable agent', unreachableReport],
  ])('writes valid SARIF 2.1.0 without dangling references (%s)', (_name, each) => {
    expect(sarifErrors(parseSarif(each))).toEqual([]);
  });

  it('writes a result for every violation', () => {
    expect(parseSarif(report).runs[0].results).toHaveLength(2);
  });

  it.each([
    ['an unknown member', (run: any) => (run.results[0].severity = 'high'), 'severity is unknown'],
    ['a rule index out of range', (run: any) => (run.results[0].ruleIndex = 99), 'ruleIndex out of range'],
    [
      'a different rule id',
      (run: any) => (run.results[0].ruleId = 'x'),
      'result 0: ruleId x does not match ruleIndex',
    ],
    [
      'a duplicate rule',
      (run: any) => run.tool.driver.rules.push({ ...run.tool.driver.rules[0], name: 'b' }),
      'duplicate rule',
    ],
    ['a missing message', (run: any) => delete run.results[0].message, 'message is missing'],
    [
      'an unknown level',
      (run: any) => (run.results[0].level = 'fatal'),
      '"fatal", not none|note|warning|error',
    ],
    [
      'a space in a URI',
      (run: any) => (run.results[0].locations[0].physicalLocation.artifactLocation.uri = 'a b'),
      'not reference',
    ],
    [
      'an unknown base id',
      (run: any) =>
        (run.results[0].locations[0].physicalLocation.artifactLocation = { uri: 'a', uriBaseId: 'ROOT' }),
      'unknown uriBaseId ROOT',
    ],
    [
      'a region without a start',
      (run: any) => (run.results[0].locations[0].physicalLocation.region = { endLine: 1 }),
      'has none of startLine',
    ],
  ])('sarifErrors reports %s', (_name, corrupt, error) => {
    const log = parseSarif(report);
    corrupt(log.runs[0]);
    expect(sarifErrors(log).join('\n')).toContain(error);
  });
});

describe('compareReports', () => {
  const reportWith = (verdict: RuleResult['verdict']): ConformanceReport =>
    buildReport({ ...outcome, results: [result('send.answers', verdict)] }, info);

  it.each([
    ['pass', 'fail', { regressions: 1, fixed: 0, unchanged: 0, nowInconclusive: 0 }],
    ['fail', 'pass', { regressions: 0, fixed: 1, unchanged: 0, nowInconclusive: 0 }],
    ['fail', 'fail', { regressions: 0, fixed: 0, unchanged: 1, nowInconclusive: 0 }],
    ['pass', 'inconclusive', { regressions: 0, fixed: 0, unchanged: 0, nowInconclusive: 1 }],
    ['fail', 'inconclusive', { regressions: 0, fixed: 0, unchanged: 0, nowInconclusive: 1 }],
    ['pass', 'warn', { regressions: 1, fixed: 0, unchanged: 0, nowInconclusive: 0 }],
  ] as const)('classifies a change from %s to %s', (before, after, counts) => {
    const diff = compareReports(reportWith(before), reportWith(after));
    expect(Object.fromEntries(Object.entries(diff).map(([name, list]) => [name, list.length]))).toEqual(
      counts,
    );
  });

  it('reports a violated rule as a regression if the first report does not contain it', () => {
    const empty = buildReport({ ...outcome, results: [] }, info);
    expect(compareReports(empty, reportWith('fail')).regressions).toHaveLength(1);
    expect(listResults(empty)).toEqual([]);
  });
});
