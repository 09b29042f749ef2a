import { useMemo } from 'preact/hooks';
import type { Part } from '../../../../src/protocol/part.ts';
import { joinTexts } from './part-display.ts';
import { PartView } from './part-view.tsx';
import './content.css';

/** How many parts are shown of one message or artifact. */
const maxShown = 100;

interface PartsViewProps {
  parts: readonly Part[];
  title?: string;
  /** More comes at the end. */
  isGrowing?: boolean;
}

/** Shows parts in their order; chunks of text as the one text they make. A file of the name `title` is not named again. */
export function PartsView({ parts, title, isGrowing = false }: PartsViewProps) {
  const joined = useMemo(() => joinTexts(parts), [parts]);
  return (
    <div class="content">
      {joined.slice(0, maxShown).map((part, at) => (
        <PartView key={at} part={part} title={title} isGrowing={isGrowing && at === joined.length - 1} />
      ))}
      {joined.length > maxShown ? (
        <div class="content-note">{joined.length - maxShown} more parts are not shown.</div>
      ) : null}
      {joined.length === 0 ? <div class="content-note">(nothing)</div> : null}
    </div>
  );
}
