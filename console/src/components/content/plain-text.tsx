import { useContext, useReducer, useRef } from 'preact/hooks';
import { Button } from '../button.tsx';
import { CodeBlock } from '../code-block.tsx';
import { AutoScrollContext } from '../auto-scroll.ts';
import { openFenceAt, splitCodeFences } from './code-fences.ts';
import { initialWindow, tailWindow, extendBackward, extendForward } from './text-window.ts';
import { escapeInvisible } from './escape-invisible.ts';
import './content.css';

/**
 * Text of an agent: text it stays. Fenced code stands in a box of its own; nothing else is interpreted. Of a long text
 * the beginning is shown, but while it grows the newest, for whoever is at the end of the box around it.
 */
export function PlainText({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const end = useContext(AutoScrollContext);
  const shown = useRef(initialWindow);
  const isFollowing = useRef(false);
  const hasGrown = useRef(false);
  const redraw = useReducer((count: number) => count + 1, 0)[1] as () => void;
  hasGrown.current ||= isGrowing;
  // The last words come when it grows no more; who was there until then sees them too.
  isFollowing.current = (isGrowing || isFollowing.current) && end?.isAtEnd === true;
  if (isFollowing.current) shown.current = tailWindow(text);
  const { start } = shown.current;
  const later = text.length - shown.current.end;
  const fence = openFenceAt(text, start);
  const piece = text.slice(start, shown.current.end);
  const showEarlier = () => {
    // Who asks for what was before does not want the newest now.
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
            // A box that scrolls by itself would hide what comes.
            isWhole={hasGrown.current && end !== undefined}
          />
        ) : (
          <div key={at} class="content-text" dir="auto">
            {escapeInvisible(each.text)}
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
