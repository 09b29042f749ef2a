import { CopyButton } from './copy-button.tsx';
import './code-block.css';

interface CodeBlockProps {
  text: string;
  /** What it is, above it and for those who listen. */
  label?: string;
  isWrapped?: boolean;
  /** As high as its text, for what is around it scrolls. */
  isWhole?: boolean;
  /** How many characters are shown; all are copied. @defaultValue 100000 */
  maxShown?: number;
}

/** Text as it was written, to read and to copy. */
export function CodeBlock({
  text,
  label = 'Text',
  isWrapped = false,
  isWhole = false,
  maxShown = 100_000,
}: CodeBlockProps) {
  return (
    <div class={`code${isWrapped ? ' code-wrap' : ''}${isWhole ? ' code-whole' : ''}`}>
      <div class="code-bar">
        <span>{label}</span>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} aria-label={label} role="region">
        {text.length > maxShown ? text.slice(0, maxShown) : text}
      </pre>
      {text.length > maxShown ? (
        <div class="code-cut">
          The first {maxShown.toLocaleString('en')} of {text.length.toLocaleString('en')} characters. Copy
          gives all.
        </div>
      ) : null}
    </div>
  );
}
