import { CopyButton } from './copy-button.tsx';
import './code-block.css';

interface CodeBlockProps {
  text: string;
  /** Visible and accessible label. */
  label?: string;
  isWrapped?: boolean;
  /** Disables its own scrolling because the container scrolls. */
  isWhole?: boolean;
  /** Number of displayed characters; copying includes all. @defaultValue 100000 */
  maxShown?: number;
}

/** Verbatim text with a copy button. */
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
          includes all.
        </div>
      ) : null}
    </div>
  );
}
