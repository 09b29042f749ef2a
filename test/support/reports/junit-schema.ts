import { parseXml, type XmlElement } from './parse-xml.ts';

/** Content model of an element: attributes (`!` means required), children, text. */
interface ElementRule {
  readonly attributes: readonly string[];
  /** Allowed child elements, in any order and number. */
  readonly children?: readonly string[];
  /** Allowed child elements in this order, each at most once; replaces `children`. */
  readonly sequence?: readonly string[];
  readonly hasText?: boolean;
}

const outcome: ElementRule = { attributes: ['type', 'message'], hasText: true };
const rerun: ElementRule = {
  attributes: ['message', 'type!'],
  sequence: ['stackTrace', 'system-out', 'system-err'],
  hasText: true,
};
const textOnly: ElementRule = { attributes: [], hasText: true };

/** The junit-10 schema of the Jenkins xUnit plugin as a table. */
const rules: { readonly [element: string]: ElementRule } = {
  testsuites: { attributes: ['name', 'time', 'tests', 'failures', 'errors'], children: ['testsuite'] },
  testsuite: {
    attributes:
      'name! tests! failures! errors! group time skipped timestamp hostname id package file log url'.split(
        ' ',
      ),
    children: ['testsuite', 'properties', 'testcase', 'system-out', 'system-err'],
  },
  testcase: {
    attributes: ['name!', 'time', 'classname', 'group'],
    children:
      'skipped error failure rerunFailure rerunError flakyFailure flakyError system-out system-err'.split(
        ' ',
      ),
  },
  properties: { attributes: [], children: ['property'] },
  property: { attributes: ['name!', 'value!'] },
  failure: outcome,
  error: outcome,
  skipped: outcome,
  rerunFailure: rerun,
  rerunError: rerun,
  flakyFailure: rerun,
  flakyError: rerun,
  stackTrace: textOnly,
  'system-out': textOnly,
  'system-err': textOnly,
};

/** Seconds in the format of Surefire: groups of digits and an optional fraction. */
const time = /^(?:(?:\d{0,3},)*\d{3}|\d{0,3})*(?:\.\d*)?$/;

/** Returns all schema violations of a JUnit report. @throws Error if the document is not well-formed. */
export function junitErrors(xml: string): string[] {
  const root = parseXml(xml);
  const errors = root.name in { testsuites: 1, testsuite: 1 } ? [] : [`the root is <${root.name}>`];
  return [...errors, ...elementErrors(root, root.name), ...countErrors(root)];
}

function elementErrors({ name, attributes, children, text }: XmlElement, at: string): string[] {
  const rule = rules[name];
  if (!rule) return [`${at}: unknown element <${name}>`];
  const errors: string[] = [];
  const allowed = rule.attributes.map((each) => each.replace('!', ''));
  for (const each of Object.keys(attributes))
    if (!allowed.includes(each)) errors.push(`${at}: the attribute ${each} is not allowed`);
  for (const each of rule.attributes)
    if (each.endsWith('!') && !(each.slice(0, -1) in attributes)) errors.push(`${at}: ${each} is missing`);
  if (/^testsuites?$/.test(name) && !time.test(attributes.time ?? ''))
    errors.push(`${at}: the time is ${attributes.time}`);
  if (!rule.hasText && text.trim() !== '') errors.push(`${at}: text is not allowed`);
  const names = children.map((each) => each.name);
  const inside = rule.sequence ?? rule.children ?? [];
  for (const each of names) if (!inside.includes(each)) errors.push(`${at}: <${each}> is not allowed`);
  const order = names.map((each) => inside.indexOf(each));
  if (rule.sequence && order.some((place, index) => index > 0 && place <= (order[index - 1] ?? -1)))
    errors.push(`${at}: ${names.join(', ')} is not the order`);
  return [
    ...errors,
    ...children.flatMap((each, index) => elementErrors(each, `${at}/${each.name}[${index}]`)),
  ];
}

/** Checks that the counts in attributes match the elements, which the schema cannot express. */
function countErrors(root: XmlElement): string[] {
  const suites = root.name === 'testsuite' ? [root] : root.children;
  const cases = (suite: XmlElement): XmlElement[] => suite.children.filter(({ name }) => name === 'testcase');
  const count = (list: readonly XmlElement[], outcome?: string): number =>
    outcome === undefined
      ? list.length
      : list.filter(({ children }) => children.some(({ name }) => name === outcome)).length;
  return [...suites, ...(suites.includes(root) ? [] : [root])].flatMap((each) => {
    const own = each === root && root.name === 'testsuites' ? suites.flatMap(cases) : cases(each);
    const counts: [string, number][] = [
      ['tests', count(own)],
      ['failures', count(own, 'failure')],
      ['errors', count(own, 'error')],
      ['skipped', count(own, 'skipped')],
    ];
    return counts
      .filter(([name, number]) => (each.attributes[name] ?? String(number)) !== String(number))
      .map(([name, number]) => `${each.name}: ${name} is ${each.attributes[name]}, there are ${number}`);
  });
}
