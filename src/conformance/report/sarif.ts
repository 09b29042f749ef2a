import { createHash } from 'node:crypto';
import { type ConformanceReport, type ConformanceResult, variantKey, listResults } from './build-report.ts';
import { specificationUrl } from './report-text.ts';

/** The report as code scanning reads it: SARIF 2.1.0. */
export function sarifReport(report: ConformanceReport): string {
  const results = listResults(report);
  const rules = [...new Map(results.map((each) => [each.test, each])).values()];
  const index = new Map(rules.map(({ test }, at) => [test, at]));
  const broken = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  const isRun = report.unreachable === undefined;
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
            rules: rules.map(ruleOf),
          },
        },
        invocations: [
          {
            executionSuccessful: isRun,
            startTimeUtc: report.testDate,
            ...(isRun
              ? {}
              : { toolExecutionNotifications: [{ level: 'error', message: { text: report.unreachable } }] }),
          },
        ],
        results: broken.map((each) => resultOf(each, index.get(each.test) ?? 0, report)),
        properties: { conformanceLevel: report.conformanceLevel, summary: report.summary },
      },
    ],
  };
  return `${JSON.stringify(sarif, undefined, 2)}\n`;
}

function ruleOf(result: ConformanceResult): object {
  return {
    id: result.test,
    shortDescription: { text: result.rule },
    fullDescription: { text: `${result.rule} ${specificationUrl(result)}` },
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

function resultOf(
  result: ConformanceResult,
  ruleIndex: number,
  { agentUrl, cards }: ConformanceReport,
): object {
  const { test, verdict, message = '', expected, actual, curl } = result;
  const lane = variantKey(result);
  // Nobody but the author knows where in which file the fault is: the card's address stands for the agent.
  const uri = result.transcript?.at(-1)?.request.url ?? cards[0]?.url ?? agentUrl;
  return {
    ruleId: test,
    ruleIndex,
    level: verdict === 'fail' ? 'error' : 'warning',
    message: { text: `${message} (${lane}) ${result.remediation}` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: uriOf(uri) }, region: { startLine: 1 } },
        logicalLocations: [{ fullyQualifiedName: `${lane} ${test}`, kind: 'member' }],
      },
    ],
    partialFingerprints: {
      'rule/v1': createHash('sha256').update(`${test} ${lane}`).digest('hex').slice(0, 32),
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

/** An address of an agent as RFC 3986 wants it, whatever the agent wrote. */
function uriOf(address: string): string {
  // Halves of characters cannot be encoded.
  const text = Buffer.from(address).toString();
  return text.replaceAll(/%(?![\da-fA-F]{2})|[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, encodeURIComponent);
}
