import type { DecodedContent, TrafficRecord, TrafficRecordKind } from '../../../tap/traffic-record.ts';
import type { Colors } from '../../terminal/colors.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

/** Maximum width of a name, in characters. */
const maxNameLength = 20;

const arrows: { readonly [K in TrafficRecordKind]: string } = {
  request: '──▶',
  response: '◀──',
  frame: '◀┄┄',
  end: '──┤',
  message: '══▶',
  loss: '┄┄▶',
};

/** Arrow of a stream that ended with an error. */
const errorArrow = '──╳';

/** Formats traffic records for a terminal: one line each, the client on the left. */
export class TrafficPrinter {
  readonly #colors: Colors;
  readonly #width: () => number | undefined;
  #left = 6;
  #right = 6;

  /** @param width - returns the maximum number of columns; undefined for no limit. */
  constructor(colors: Colors, width: () => number | undefined) {
    this.#colors = colors;
    this.#width = width;
  }

  format(record: TrafficRecord): string {
    const { at, kind, from, to, elapsed, decoded } = record;
    const { dim } = this.#colors;
    const isFromServer = kind === 'response' || kind === 'frame' || kind === 'end';
    const [left, right] = (isFromServer ? [to, from] : [from, to]).map(shortName) as [string, string];
    this.#left = Math.max(this.#left, left.length);
    this.#right = Math.max(this.#right, right.length);
    const badge = formatBadge(decoded).padEnd(8);
    const duration = (elapsed === undefined ? '' : `${Math.round(elapsed)} ms`).padStart(9);
    const head = [
      formatTime(at),
      left.padStart(this.#left),
      kind === 'end' && decoded?.isError ? errorArrow : arrows[kind],
      right.padEnd(this.#right),
      badge,
      duration,
    ];
    const used = head.join(' ').length + 4;
    const [time = '', client = '', arrow = '', server = '', version = '', ms = ''] = head;
    const marks = listMarks(record);
    const summary = fit(
      sanitizeForTerminal(decoded?.summary ?? record.text.slice(0, 200), 'line'),
      this.#width(),
      used + marks.reduce((sum, [mark]) => sum + mark.length + 2, 0),
    );
    const text = [
      this.#summary(record, summary),
      ...marks.map(([mark, level]) => this.#mark(mark, level)),
    ].join('  ');
    return `${dim(time)}  ${client} ${this.#arrow(record, arrow)} ${server}  ${this.#badge(version)} ${dim(ms)}  ${text}`.trimEnd();
  }

  #summary({ kind, decoded }: TrafficRecord, summary: string): string {
    const { red, bold, yellow, dim } = this.#colors;
    if (decoded?.isError) return red(summary);
    if (kind === 'loss') return yellow(summary);
    if (kind === 'request') return bold(summary);
    return kind === 'end' ? dim(summary) : summary;
  }

  #arrow({ kind, decoded }: TrafficRecord, arrow: string): string {
    const { cyan, green, red, yellow, magenta, dim } = this.#colors;
    if (decoded?.isError) return red(arrow);
    if (kind === 'request') return cyan(arrow);
    if (kind === 'message') return magenta(arrow);
    if (kind === 'loss') return yellow(arrow);
    return kind === 'end' ? dim(arrow) : green(arrow);
  }

  #badge(badge: string): string {
    const { blue, green, yellow, magenta, dim } = this.#colors;
    if (badge.startsWith('1.0')) return green(badge);
    if (badge.startsWith('0.1')) return magenta(badge);
    if (badge.startsWith('0.')) return yellow(badge);
    return badge.trim() === '' ? dim(badge) : blue(badge);
  }

  #mark(mark: string, level: 'error' | 'warning'): string {
    const { red, yellow } = this.#colors;
    return level === 'error' ? red(mark) : yellow(mark);
  }
}

const transportLabels = { JSONRPC: 'RPC', 'HTTP+JSON': 'REST', GRPC: 'gRPC', mesh: 'mesh' } as const;

function formatBadge({ version, transport }: Partial<DecodedContent> = {}): string {
  return [version, transport && transportLabels[transport]].filter(Boolean).join(' ');
}

/** Returns the marks of a record: rule violations, translation losses and truncation. */
function listMarks({ kind, decoded, truncatedBy }: TrafficRecord): [string, 'error' | 'warning'][] {
  const { losses = [], findings = [] } = decoded ?? {};
  const marks: [string, 'error' | 'warning'][] = [];
  for (const { rule, level } of findings.slice(0, 3)) marks.push([`✗ ${rule}`, level]);
  if (findings.length > 3) marks.push([`✗ ${findings.length - 3} more`, 'warning']);
  if (losses.length > 0 && kind !== 'loss') marks.push([`≠ ${losses.length} lost`, 'warning']);
  if (truncatedBy !== undefined) marks.push([`✂ ${truncatedBy} characters`, 'warning']);
  return marks;
}

function shortName(name: string): string {
  const clean = sanitizeForTerminal(name, 'line');
  return clean.length > maxNameLength ? `${clean.slice(0, maxNameLength - 1)}…` : clean;
}

function fit(text: string, width: number | undefined, used: number): string {
  if (width === undefined) return text;
  const room = Math.max(20, width - used);
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

/** Formats the local time of day. */
function formatTime(at: number): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  return `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
