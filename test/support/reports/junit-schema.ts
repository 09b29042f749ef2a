import { parseXml, type XmlElement } from './parse-xml.ts';

/** What an element may have: attributes (`!` is required), children, text. */
interface Rule {
  readonly attributes: readonly string[];
  /** Undefined: none. A list: any of them, in any order, as often as wanted. */
  readonly children?: readonly string[];
  /** These in this order, each at most once, instead of `children`. */
  readonly sequence?: readonly string[];
  readonly hasText?: boolean;
}

const outcome: Rule = { attributes: ['type', 'message'], hasText: true };
const again: Rule = {
  attributes: ['message', 'type!'],
  sequence: ['stackTrace', 'system-out', 'system-err'],
  hasText: true,
};
const words: Rule = { attributes: [], hasText: true };

/** What the xUnit plugin of Jenkins takes (its junit-10 schema), told as a table. */
const rules: { readonly [element: string]: Rule } = {
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
  rerunFailure: again,
  rerunError: again,
  flakyFailure: again,
  flakyError: again,
  stackTrace: words,
  'system-out': words,
  'system-err': words,
};

/** Seconds as Surefire writes them: groups of digits, then perhaps a fraction. */
const time = /^(?:(?:\d{0,3},)*\d{3}|\d{0,3})*(?:\.\d*)?$/;

/** Everything that is wrong with a report of JUnit; a document that is not well-formed throws. */
export function junitErrors(xml: string): string[] {
  const root = parseXml(xml);
  const faults = root.name in { testsuites: 1, testsuite: 1 } ? [] : [`the root is <${root.name}>`];
  return [...faults, ...faultsIn(root, root.name), ...miscounts(root)];
}

function faultsIn({ name, attributes, children, text }: XmlElement, at: string): string[] {
  const rule = rules[name];
  if (!rule) return [`${at}: nobody knows <${name}>`];
  const faults: string[] = [];
  const allowed = rule.attributes.map((each) => each.replace('!', ''));
  for (const each of Object.keys(attributes))
    if (!allowed.includes(each)) faults.push(`${at}: the attribute ${each} is not allowed`);
  for (const each of rule.attributes)
    if (each.endsWith('!') && !(each.slice(0, -1) in attributes)) faults.push(`${at}: ${each} is missing`);
  if (/^testsuites?$/.test(name) && !time.test(attributes.time ?? ''))
    faults.push(`${at}: the time is ${attributes.time}`);
  if (!rule.hasText && text.trim() !== '') faults.push(`${at}: text is not allowed`);
  const names = children.map((each) => each.name);
  const inside = rule.sequence ?? rule.children ?? [];
  for (const each of names) if (!inside.includes(each)) faults.push(`${at}: <${each}> is not allowed`);
  const order = names.map((each) => inside.indexOf(each));
  if (rule.sequence && order.some((place, index) => index > 0 && place <= (order[index - 1] ?? -1)))
    faults.push(`${at}: ${names.join(', ')} is not the order`);
  return [...faults, ...children.flatMap((each, index) => faultsIn(each, `${at}/${each.name}[${index}]`))];
}

/** The numbers that build servers show must be those of what is there; no schema says so. */
function miscounts(root: XmlElement): string[] {
  const suites = root.name === 'testsuite' ? [root] : root.children;
  const cases = (suite: XmlElement): XmlElement[] => suite.children.filter(({ name }) => name === 'testcase');
  const count = (list: readonly XmlElement[], outcome?: string): number =>
    outcome === undefined
      ? list.length
      : list.filter(({ children }) => children.some(({ name }) => name === outcome)).length;
  return [...suites, ...(suites.includes(root) ? [] : [root])].flatMap((each) => {
    const own = each === root && root.name === 'testsuites' ? suites.flatMap(cases) : cases(each);
    const told: [string, number][] = [
      ['tests', count(own)],
      ['failures', count(own, 'failure')],
      ['errors', count(own, 'error')],
      ['skipped', count(own, 'skipped')],
    ];
    return told
      .filter(([name, number]) => (each.attributes[name] ?? String(number)) !== String(number))
      .map(([name, number]) => `${each.name}: ${name} is ${each.attributes[name]}, there are ${number}`);
  });
}
