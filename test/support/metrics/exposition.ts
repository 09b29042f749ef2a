/** One sample line. */
export interface ExpositionSample {
  name: string;
  labels: { [name: string]: string };
  value: number;
}

/** A parsed Prometheus exposition. */
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

function parseValue(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (text === 'NaN') return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw new Error(`Invalid value: ${text}`);
  return Number(text);
}

/** Parses the Prometheus text format, version 0.0.4. @throws Error at the first violation of the format. */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('The last line has no line feed');
  const types = new Map<string, string>();
  const documented = new Set<string>();
  const samples: ExpositionSample[] = [];
  const seen = new Set<string>();
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const help = helpLine.exec(line)?.[1];
    const [, typedName, type = ''] = typeLine.exec(line) ?? [];
    if (help !== undefined) {
      if (documented.has(help)) throw new Error(`Duplicate HELP for ${help}`);
      documented.add(help);
    } else if (typedName !== undefined) {
      if (types.has(typedName)) throw new Error(`Duplicate TYPE for ${typedName}`);
      types.set(typedName, type);
      family = typedName;
    } else {
      const [, name = '', labelText = '', value = ''] = sampleLine.exec(line) ?? [];
      const base = types.get(family) === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
      if (name === '' || base !== family) throw new Error(`Unexpected line: ${line}`);
      const key = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(key)) throw new Error(`Duplicate sample: ${key}`);
      seen.add(key);
      const labels = Object.fromEntries(
        [...labelText.matchAll(labelPair)].map(([, label = '', labelValue = '']) => [label, labelValue]),
      );
      samples.push({ name, labels, value: parseValue(value) });
    }
  }
  return { types, samples };
}
