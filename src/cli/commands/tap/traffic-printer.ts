import type { DecodedContent, TrafficRecord, TrafficRecordKind } from '../../../tap/traffic-record.ts';
import type { createColors } from '../../terminal/colors.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

type Colours = ReturnType<typeof createColors>;

/** How wide a name may be. */
const maxName = 20;

const arrows: { readonly [K in TrafficRecordKind]: string } = {
  request: '──▶',
  response: '◀──',
  frame: '◀┄┄',
  end: '──┤',
  message: '══▶',
  loss: '┄┄▶',
};

/** What broke off, or never came. */
const broken = '──╳';

/** Writes passages for people: one line each, whoever asked on the left. */
export class TrafficPrinter {
  readonly #colours: Colours;
  readonly #width: () => number | undefined;
  #left = 6;
  #right = 6;

  /** @param width - how many columns a line may have; undefined for as many as it needs. */
  constructor(colours: Colours, width: () => number | undefined) {
    this.#colours = colours;
    this.#width = width;
  }

  line(passage: TrafficRecord): string {
    const { at, kind, from, to, elapsed: after, decoded: meaning } = passage;
    const { dim } = this.#colours;
    const isBack = kind === 'response' || kind === 'frame' || kind === 'end';
    const [left, right] = (isBack ? [to, from] : [from, to]).map(shortName) as [string, string];
    this.#left = Math.max(this.#left, left.length);
    this.#right = Math.max(this.#right, right.length);
    const badge = badgeOf(meaning).padEnd(8);
    const passed = (after === undefined ? '' : `${Math.round(after)} ms`).padStart(9);
    const head = [
      timeOf(at),
      left.padStart(this.#left),
      kind === 'end' && meaning?.isError ? broken : arrows[kind],
      right.padEnd(this.#right),
      badge,
      passed,
    ];
    const used = head.join(' ').length + 4;
    const [time = '', asker = '', arrow = '', asked = '', version = '', ms = ''] = head;
    const marks = marksOf(passage);
    const gist = fit(
      sanitizeForTerminal(meaning?.summary ?? passage.text.slice(0, 200), 'line'),
      this.#width(),
      used + lengthOf(marks),
    );
    const said = [this.#paint(passage, gist), ...marks.map(([mark, level]) => this.#mark(mark, level))].join(
      '  ',
    );
    return `${dim(time)}  ${asker} ${this.#arrow(passage, arrow)} ${asked}  ${this.#badge(version)} ${dim(ms)}  ${said}`.trimEnd();
  }

  #paint({ kind, decoded: meaning }: TrafficRecord, gist: string): string {
    const { red, bold, yellow, dim } = this.#colours;
    if (meaning?.isError) return red(gist);
    if (kind === 'loss') return yellow(gist);
    if (kind === 'request') return bold(gist);
    return kind === 'end' ? dim(gist) : gist;
  }

  #arrow({ kind, decoded: meaning }: TrafficRecord, arrow: string): string {
    const { cyan, green, red, yellow, magenta, dim } = this.#colours;
    if (meaning?.isError) return red(arrow);
    if (kind === 'request') return cyan(arrow);
    if (kind === 'message') return magenta(arrow);
    if (kind === 'loss') return yellow(arrow);
    return kind === 'end' ? dim(arrow) : green(arrow);
  }

  #badge(badge: string): string {
    const { blue, green, yellow, magenta, dim } = this.#colours;
    if (badge.startsWith('1.0')) return green(badge);
    if (badge.startsWith('0.1')) return magenta(badge);
    if (badge.startsWith('0.')) return yellow(badge);
    return badge.trim() === '' ? dim(badge) : blue(badge);
  }

  #mark(mark: string, level: 'error' | 'warning'): string {
    const { red, yellow } = this.#colours;
    return level === 'error' ? red(mark) : yellow(mark);
  }
}

const bindings = { JSONRPC: 'RPC', 'HTTP+JSON': 'REST', mesh: 'mesh' } as const;

function badgeOf({ version, transport: binding }: Partial<DecodedContent> = {}): string {
  return [version, binding && bindings[binding]].filter(Boolean).join(' ');
}

/** What is worth a second look. */
function marksOf({
  kind,
  decoded: meaning,
  truncatedBy: cut,
}: TrafficRecord): [string, 'error' | 'warning'][] {
  const { losses = [], findings = [] } = meaning ?? {};
  const marks: [string, 'error' | 'warning'][] = [];
  for (const { rule, level } of findings.slice(0, 3)) marks.push([`✗ ${rule}`, level]);
  if (findings.length > 3) marks.push([`✗ ${findings.length - 3} more`, 'warning']);
  if (losses.length > 0 && kind !== 'loss') marks.push([`≠ ${losses.length} lost`, 'warning']);
  if (cut !== undefined) marks.push([`✂ ${cut} characters`, 'warning']);
  return marks;
}

function lengthOf(marks: readonly (readonly [string, unknown])[]): number {
  return marks.reduce((sum, [mark]) => sum + mark.length + 2, 0);
}

function shortName(name: string): string {
  const clean = sanitizeForTerminal(name, 'line');
  return clean.length > maxName ? `${clean.slice(0, maxName - 1)}…` : clean;
}

function fit(text: string, width: number | undefined, used: number): string {
  if (width === undefined) return text;
  const room = Math.max(20, width - used);
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

/** The time of day, where the reader is. */
function timeOf(at: number): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  return `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
