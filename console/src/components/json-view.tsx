import { useSignal } from '@preact/signals';
import './json-view.css';

/** Number of members per page. */
const pageSize = 100;
/** Initial and maximum length of a displayed string. */
const shortString = 400;
const longString = 50_000;
const maxName = 120;

interface JsonViewProps {
  value: unknown;
  /** Number of initially expanded levels. @defaultValue 2 */
  openLevels?: number;
  /** Accessible name. */
  label?: string;
}

/**
 * A JSON value as a tree. Collapsed nodes are not rendered, long lists are paged and long strings truncated, so values
 * may be arbitrarily large and deep.
 */
export function JsonView({ value, openLevels = 2, label = 'JSON' }: JsonViewProps) {
  return (
    <div class="json" role="group" aria-label={label}>
      <Node value={value} openLevels={openLevels} />
    </div>
  );
}

interface NodeProps {
  name?: string;
  value: unknown;
  openLevels: number;
}

function Node({ name, value, openLevels }: NodeProps) {
  if (typeof value === 'object' && value !== null) {
    return <Branch name={name} value={value} openLevels={openLevels} />;
  }
  return (
    <div class="json-leaf">
      <Name name={name} />
      <Leaf value={value} />
    </div>
  );
}

function Name({ name }: { name?: string }) {
  if (name === undefined) return null;
  return <span class="json-name">{name.length > maxName ? `${name.slice(0, maxName)}…` : name}: </span>;
}

function Leaf({ value }: { value: unknown }) {
  const isOpen = useSignal(false);
  if (typeof value !== 'string') {
    return <span class={typeof value === 'number' ? 'json-number' : 'json-word'}>{String(value)}</span>;
  }
  const shown = isOpen.value ? longString : shortString;
  if (value.length <= shown) return <span class="json-string">{JSON.stringify(value)}</span>;
  return (
    <>
      <span class="json-string">{JSON.stringify(value.slice(0, shown)).slice(0, -1)}…</span>{' '}
      {isOpen.value ? (
        <span class="json-count">{value.length.toLocaleString('en')} characters in total</span>
      ) : (
        <button type="button" class="json-more" onClick={() => (isOpen.value = true)}>
          {value.length.toLocaleString('en')} characters, show more
        </button>
      )}
    </>
  );
}

function Branch({ name, value, openLevels }: NodeProps & { value: object }) {
  const isOpen = useSignal(openLevels > 0);
  const shown = useSignal(pageSize);
  const isList = Array.isArray(value);
  const names = isList ? undefined : Object.keys(value);
  const count = isList ? value.length : (names?.length ?? 0);
  if (count === 0) {
    return (
      <div class="json-leaf">
        <Name name={name} />
        {isList ? '[]' : '{}'}
      </div>
    );
  }
  const members = [];
  for (let at = 0; isOpen.value && at < Math.min(count, shown.value); at++) {
    const key = names?.[at] ?? String(at);
    members.push(
      <li key={key}>
        <Node name={key} value={(value as Record<string, unknown>)[key]} openLevels={openLevels - 1} />
      </li>,
    );
  }
  return (
    <div>
      <button
        type="button"
        class="json-fold"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span>
          <Name name={name} />
          <span class="json-count">{isList ? `[${count}]` : `{${count}}`}</span>
        </span>
      </button>
      {isOpen.value ? (
        <ul>
          {members}
          {shown.value < count ? (
            <li>
              <button type="button" class="json-more" onClick={() => (shown.value += pageSize)}>
                {(count - shown.value).toLocaleString('en')} more
              </button>
            </li>
          ) : null}
        </ul>
      ) : null}
    </div>
  );
}
