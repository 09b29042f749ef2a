import { useSignal } from '@preact/signals';
import { Button } from '../button.tsx';
import { CodeBlock } from '../code-block.tsx';
import { readFences } from './fences.ts';
import { visible } from './visible.ts';
import './content.css';

/** How much of a text is shown before somebody asks for more. */
const pageSize = 8_000;

/** Text of an agent: text it stays. Fenced code stands in a box of its own; nothing else is interpreted. */
export function PlainText({ text }: { text: string }) {
  const shown = useSignal(pageSize);
  const isCut = text.length > shown.value;
  return (
    <div class="content">
      {readFences(isCut ? text.slice(0, shown.value) : text).map((piece, at) =>
        piece.kind === 'code' ? (
          <CodeBlock key={at} text={piece.text} label={piece.language ?? 'code'} />
        ) : (
          <div key={at} class="content-text" dir="auto">
            {visible(piece.text)}
          </div>
        ),
      )}
      {isCut ? (
        <div class="content-more">
          <Button small onClick={() => (shown.value *= 4)}>
            {(text.length - shown.value).toLocaleString('en')} more characters
          </Button>
        </div>
      ) : null}
    </div>
  );
}
