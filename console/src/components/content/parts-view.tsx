import { useMemo } from 'preact/hooks';
import type { Part } from '../../../../src/protocol/part.ts';
import { joinTexts } from './part-display.ts';
import { PartView } from './part-view.tsx';
import './content.css';

/** Maximum number of rendered parts. */
const maxShown = 100;

interface PartsViewProps {
  parts: readonly Part[];
  title?: string;
  /** True while more content is expected. */
  isGrowing?: boolean;
}

/** Renders parts in order and joins text chunks. A file named like `title` is not labeled again. */
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
      {joined.length === 0 ? <div class="content-note">(empty)</div> : null}
    </div>
  );
}
