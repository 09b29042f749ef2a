import { escapeXml } from './escape-xml.ts';

/** One test case of a JUnit report. At most one of `error`, `failure` and `skipped` is set. */
export interface JunitCase {
  readonly name: string;
  readonly classname: string;
  readonly milliseconds: number;
  readonly error?: { readonly message: string };
  readonly failure?: { readonly message: string; readonly type?: string; readonly text: string };
  readonly skipped?: { readonly message: string };
  readonly systemOut?: string;
}

/** One suite of a JUnit report. */
export interface JunitSuite {
  readonly name: string;
  /** Start of the run, such as `2026-01-01T00:00:00`. */
  readonly timestamp?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly cases: readonly JunitCase[];
}

/** Writes a JUnit report as XML, in the format of the xUnit plugin of Jenkins. */
export function writeJunit(name: string, suites: readonly JunitSuite[]): string {
  const cases = suites.flatMap((suite) => suite.cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    // The schema of <testsuites> has no attribute for skipped cases.
    `<testsuites${attributes({ name, ...countCases(cases) })}>`,
    ...suites.flatMap(writeSuite),
    '</testsuites>',
    '',
  ].join('\n');
}

function writeSuite({ name, timestamp, properties, cases }: JunitSuite): string[] {
  const skipped = String(cases.filter((each) => each.skipped).length);
  return [
    `  <testsuite${attributes({ name, ...countCases(cases), skipped, timestamp })}>`,
    ...(properties ? writeProperties(properties) : []),
    ...cases.flatMap(writeCase),
    '  </testsuite>',
  ];
}

function countCases(cases: readonly JunitCase[]): Record<string, string> {
  return {
    tests: String(cases.length),
    failures: String(cases.filter(({ failure }) => failure).length),
    errors: String(cases.filter(({ error }) => error).length),
    time: formatSeconds(cases.reduce((sum, { milliseconds }) => sum + milliseconds, 0)),
  };
}

function writeProperties(properties: Readonly<Record<string, string>>): string[] {
  const lines = Object.entries(properties).map(
    ([name, value]) => `      <property${attributes({ name, value })}/>`,
  );
  return ['    <properties>', ...lines, '    </properties>'];
}

function writeCase(testCase: JunitCase): string[] {
  const { name, classname, milliseconds, error, failure, skipped, systemOut } = testCase;
  const head = `    <testcase${attributes({ name, classname, time: formatSeconds(milliseconds) })}`;
  const lines: string[] = [];
  if (error) lines.push(`      <error${attributes(error)}/>`);
  if (skipped) lines.push(`      <skipped${attributes(skipped)}/>`);
  if (failure) {
    const { message, type, text } = failure;
    lines.push(`      <failure${attributes({ message, type })}>${escapeXml(text)}</failure>`);
  }
  if (systemOut !== undefined) lines.push(`      <system-out>${escapeXml(systemOut)}</system-out>`);
  return lines.length === 0 ? [`${head}/>`] : [`${head}>`, ...lines, '    </testcase>'];
}

function attributes(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escapeXml(value)}"`))
    .join('');
}

function formatSeconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}
