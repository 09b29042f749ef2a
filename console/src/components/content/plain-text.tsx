import { useContext, useReducer, useRef } from 'preact/hooks';
import { Button } from '../button.tsx';
import { CodeBlock } from '../code-block.tsx';
import { AutoScrollContext } from '../auto-scroll.ts';
import { openFenceAt, splitCodeFences } from './code-fences.ts';
import { initialWindow, tailWindow, extendBackward, extendForward } from './text-window.ts';
import './content.css';

/**
 * Text of an agent, never interpreted except for code fences. Shows the start of a long text, or its end while it is
 * growing and the user is scrolled to the end.
 */
export function PlainText({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const end = useContext(AutoScrollContext);
  const shown = useRef(initialWindow);
  const isFollowing = useRef(false);
  const hasGrown = useRef(false);
  const redraw = useReducer((count: number) => count + 1, 0)[1] as () => void;
  hasGrown.current ||= isGrowing;
  // The final text arrives when growing ends; keep showing the end if it was visible.
  isFollowing.current = (isGrowing || isFollowing.current) && end?.isAtEnd === true;
  if (isFollowing.current) shown.current = tailWindow(text);
  const { start } = shown.current;
  const later = text.length - shown.current.end;
  const fence = openFenceAt(text, start);
  const piece = text.slice(start, shown.current.end);
  const showEarlier = () => {
    // A user who expands earlier text does not want to jump to the end.
    if (end) end.isAtEnd = false;
    shown.current = extendBackward(text, shown.current);
    redraw();
  };
  const showLater = () => {
    shown.current = extendForward(shown.current);
    redraw();
  };
  return (
    <div class="content">
      {start > 0 ? <More count={start} what="earlier" onClick={showEarlier} /> : null}
      {splitCodeFences(fence === '' ? piece : `${fence}\n${piece}`).map((each, at) =>
        each.kind === 'code' ? (
          <CodeBlock
            key={at}
            text={each.text}
            label={each.language ?? 'code'}
            // A box with its own scroll bar would hide new text.
            isWhole={hasGrown.current && end !== undefined}
          />
        ) : (
          <div key={at} class="content-text" dir="auto">
            {each.text}
          </div>
        ),
      )}
      {later > 0 ? <More count={later} what="more" onClick={showLater} /> : null}
    </div>
  );
}

function More({ count, what, onClick }: { count: number; what: string; onClick: () => void }) {
  return (
    <div class="content-more">
      <Button small onClick={onClick}>
        {count.toLocaleString('en')} {what} characters
      </Button>
    </div>
  );
}
