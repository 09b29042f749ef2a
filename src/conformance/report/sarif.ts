import { createHash } from 'node:crypto';
import { type ConformanceReport, type ConformanceResult, variantKey, listResults } from './build-report.ts';
import { specificationReference } from './report-text.ts';

/** Writes the report as SARIF 2.1.0 for code scanning. */
export function formatSarifReport(report: ConformanceReport): string {
  const results = listResults(report);
  const rules = [...new Map(results.map((each) => [each.test, each])).values()];
  const index = new Map(rules.map(({ test }, position) => [test, position]));
  const violations = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  const isReachable = report.unreachable === undefined;
  const [name = 'dragoman', version = '0.0.0'] = report.provenance.suite.split(' ');
  const sarif = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name,
            version,
            informationUri: 'https://a2a-protocol.org/',
            rules: rules.map(toRule),
          },
        },
        invocations: [
          {
            executionSuccessful: isReachable,
            startTimeUtc: report.testDate,
            ...(isReachable
              ? {}
              : { toolExecutionNotifications: [{ level: 'error', message: { text: report.unreachable } }] }),
          },
        ],
        results: violations.map((each) => toResult(each, index.get(each.test) ?? 0, report)),
        properties: { conformanceLevel: report.conformanceLevel, summary: report.summary },
      },
    ],
  };
  return `${JSON.stringify(sarif, undefined, 2)}\n`;
}

function toRule(result: ConformanceResult): object {
  return {
    id: result.test,
    shortDescription: { text: result.rule },
    fullDescription: { text: `${result.rule} ${specificationReference(result)}` },
    help: { text: result.remediation },
    defaultConfiguration: { level: result.level === 'MUST' ? 'error' : 'warning' },
    properties: {
      tags: ['a2a', result.category],
      section: result.section,
      requirements: result.requirements,
      level: result.level,
    },
  };
}

function toResult(
  result: ConformanceResult,
  ruleIndex: number,
  { agentUrl, cards }: ConformanceReport,
): object {
  const { test, verdict, message = '', expected, actual, curl } = result;
  const variant = variantKey(result);
  // SARIF requires a location, and the source file is unknown: the URL of the request or card takes its place.
  const uri = result.transcript?.at(-1)?.request.url ?? cards[0]?.url ?? agentUrl;
  return {
    ruleId: test,
    ruleIndex,
    level: verdict === 'fail' ? 'error' : 'warning',
    message: { text: `${message} (${variant}) ${result.remediation}` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: encodeUri(uri) }, region: { startLine: 1 } },
        logicalLocations: [{ fullyQualifiedName: `${variant} ${test}`, kind: 'member' }],
      },
    ],
    partialFingerprints: {
      'rule/v1': createHash('sha256').update(`${test} ${variant}`).digest('hex').slice(0, 32),
    },
    properties: {
      version: result.version,
      ...(result.transport === undefined ? {} : { transport: result.transport }),
      ...(expected === undefined ? {} : { expected }),
      ...(actual === undefined ? {} : { actual }),
      ...(curl === undefined ? {} : { curl }),
    },
  };
}

/** Percent-encodes a URL that comes from an agent, so that it is valid by RFC 3986. */
function encodeUri(url: string): string {
  // Lone surrogates cannot be encoded; they become U+FFFD.
  const text = Buffer.from(url).toString();
  return text.replaceAll(/%(?![\da-fA-F]{2})|[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, encodeURIComponent);
}
