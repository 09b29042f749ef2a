/** One line with a value. */
export interface ExpositionSample {
  name: string;
  labels: { [name: string]: string };
  value: number;
}

/** What a page of metrics says, read as Prometheus would. */
export interface Exposition {
  types: Map<string, string>;
  samples: ExpositionSample[];
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const helpLine = new RegExp(`^# HELP (${metricName}) (?:[^\\\\\\n]|\\\\\\\\|\\\\n)*$`);
const typeLine = new RegExp(`^# TYPE (${metricName}) (counter|gauge|histogram|summary|untyped)$`);
const sampleLine = new RegExp(
  `^(${metricName})(?:\\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"(?:,|(?=\\})))*)\\})? (\\S+)(?: -?\\d+)?$`,
);
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"/g;

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (text === 'NaN') return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw new Error(`${text} is no value`);
  return Number(text);
}

/** Reads the text format of Prometheus, version 0.0.4, and throws where it is not followed. */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('The last line does not end');
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples: ExpositionSample[] = [];
  const seen = new Set<string>();
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const help = helpLine.exec(line)?.[1];
    const [, typed, type = ''] = typeLine.exec(line) ?? [];
    if (help !== undefined) {
      if (helped.has(help)) throw new Error(`${help} is explained twice`);
      helped.add(help);
    } else if (typed !== undefined) {
      if (types.has(typed)) throw new Error(`${typed} has two types`);
      types.set(typed, type);
      family = typed;
    } else {
      const [, name = '', labelText = '', value = ''] = sampleLine.exec(line) ?? [];
      const base = types.get(family) === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
      if (name === '' || base !== family) throw new Error(`This line is out of place: ${line}`);
      const key = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(key)) throw new Error(`This is said twice: ${key}`);
      seen.add(key);
      const labels = Object.fromEntries(
        [...labelText.matchAll(labelPair)].map(([, label = '', said = '']) => [label, said]),
      );
      samples.push({ name, labels, value: numberOf(value) });
    }
  }
  return { types, samples };
}
