import type { TranslationLoss } from '../../../../src/dialects/translation-loss.ts';
import { type AlignedLine, type AlignedSide, alignJson } from '../../../../src/tap/translation/align-json.ts';
import { markLosses } from '../../../../src/tap/translation/mark-losses.ts';
import { parseContent } from '../../../../src/tap/translation/parse-content.ts';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { Badge, TransportBadge, VersionBadge } from '../../components/badge.tsx';
import './translation-view.css';

/** What happened to a value in a translation. */
const lossWords = { dropped: 'dropped', guessed: 'guessed', defaulted: 'default applied' } as const;

const changeWords: { readonly [change in AlignedLine['change']]: string } = {
  same: '',
  value: 'changed',
  name: 'renamed',
  'left-only': 'only on the left',
  'right-only': 'only on the right',
};

/** Longest text of a value. */
const maxText = 2_000;

/** A message before and after its translation, aligned member by member. */
export function TranslationView({
  left,
  right,
  losses,
}: {
  left: TrafficRecord;
  right: TrafficRecord;
  losses: readonly TranslationLoss[];
}) {
  const [before, after] = [parseContent(left.text), parseContent(right.text)];
  if (before === undefined || after === undefined)
    return <p class="traffic-nothing">One of both messages is not complete JSON.</p>;
  const lines = alignJson(before, after);
  const { byLine, others } = markLosses(lines, losses);
  return (
    <>
      <Losses losses={others} />
      <table class="translation" aria-label="Translation">
        <thead>
          <tr>
            <Head record={left} />
            <Head record={right} />
          </tr>
        </thead>
        <tbody>
          {lines.map((line, at) => (
            <Line key={at} line={line} losses={byLine.get(line) ?? []} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Head({ record: { from, to, decoded } }: { record: TrafficRecord }) {
  return (
    <th scope="col">
      {from} → {to} {decoded?.version === undefined ? null : <VersionBadge version={decoded.version} />}{' '}
      {decoded?.transport === undefined ? null : <TransportBadge transport={decoded.transport} />}
    </th>
  );
}

function Line({ line, losses }: { line: AlignedLine; losses: readonly TranslationLoss[] }) {
  const { depth, left, right, change } = line;
  const title = changeWords[change];
  return (
    <>
      <tr class={`translation-${change}`} {...(title !== '' && { title })}>
        <Side side={left} depth={depth} />
        <Side side={right} depth={depth} />
      </tr>
      {losses.length === 0 ? null : (
        <tr class="translation-loss">
          <td colSpan={2}>
            <Losses losses={losses} />
          </td>
        </tr>
      )}
    </>
  );
}

function Side({ side, depth }: { side: AlignedSide | undefined; depth: number }) {
  if (!side) return <td class="translation-none" />;
  const { name, text } = side;
  return (
    <td style={{ paddingLeft: `${10 + Math.min(depth, 12) * 14}px` }}>
      {name === undefined ? null : <span class="json-name">{name}: </span>}
      {text.length > maxText ? `${text.slice(0, maxText)}…` : text}
    </td>
  );
}

/** Lists translation losses. */
export function Losses({ losses }: { losses: readonly TranslationLoss[] }) {
  if (losses.length === 0) return null;
  return (
    <ul class="traffic-remarks">
      {losses.map((each, at) => (
        <li key={at}>
          <Badge tone="amber">{lossWords[each.kind]}</Badge> <code>{each.path}</code> {each.note}
        </li>
      ))}
    </ul>
  );
}
