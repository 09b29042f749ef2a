import type { ProtocolVersion } from '../../../protocol/card.ts';
import { alignJson, type AlignedLine, type AlignedSide } from '../../../tap/translation/align-json.ts';
import { markLosses } from '../../../tap/translation/mark-losses.ts';
import { translateRecord } from '../../../tap/translation/translate-record.ts';
import type { TrafficRecord } from '../../../tap/traffic-record.ts';
import type { Colors } from '../../terminal/colors.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

const marks = { same: ' ', value: '~', name: '≈', 'left-only': '-', 'right-only': '+' } as const;

/** Width of the output if it is not a terminal. */
const defaultWidth = 120;

/** Formats messages beside their translation into another version, aligned member by member. */
export class TranslationPrinter {
  readonly #colors: Colors;
  readonly #version: ProtocolVersion;
  readonly #width: () => number | undefined;

  constructor(colors: Colors, version: ProtocolVersion, width: () => number | undefined) {
    this.#colors = colors;
    this.#version = version;
    this.#width = width;
  }

  /** @returns an empty text if there is nothing to translate */
  format(record: TrafficRecord): string {
    const translated = translateRecord(record, this.#version);
    if (!translated) return '';
    const { original, translation, losses } = translated;
    const lines = alignJson(original, translation);
    const { byLine, others } = markLosses(lines, losses);
    const column = Math.max(20, Math.floor(((this.#width() ?? defaultWidth) - 7) / 2));
    const { bold } = this.#colors;
    const head = `  ${bold((record.decoded?.version ?? '').padEnd(column))} │ ${bold(this.#version)}`;
    const rows = lines.flatMap((line) => [
      this.#line(line, column),
      ...(byLine.get(line) ?? []).map((loss) => this.#loss(loss)),
    ]);
    return [head, ...rows, ...others.map((loss) => this.#loss(loss)), ''].map((row) => `${row}\n`).join('');
  }

  #line({ depth, left, right, change }: AlignedLine, column: number): string {
    const { red, green, blue, magenta } = this.#colors;
    const plain = (text: string): string => text;
    const paint = { same: plain, value: blue, name: magenta, 'left-only': red, 'right-only': green }[change];
    const [one, other] = [left, right].map((side) => fit(formatSide(side, depth), column));
    return paint(`${marks[change]} ${one} │ ${other?.trimEnd() ?? ''}`.trimEnd());
  }

  #loss({ path, kind, note }: { path: string; kind: string; note: string }): string {
    return this.#colors.yellow(`! ${sanitizeForTerminal(`${path} ${kind}: ${note}`, 'line')}`);
  }
}

function formatSide(side: AlignedSide | undefined, depth: number): string {
  if (!side) return '';
  const text = side.name === undefined ? side.text : `${side.name}: ${side.text}`;
  return `${'  '.repeat(Math.min(depth, 12))}${sanitizeForTerminal(text, 'line')}`;
}

function fit(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}
