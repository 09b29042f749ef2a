/** Media types as code. */
export function MediaTypes({ modes }: { modes: readonly string[] }) {
  if (modes.length === 0) return <span class="agents-none">none</span>;
  return (
    <span class="agents-modes">
      {modes.map((mode) => (
        <code key={mode}>{mode}</code>
      ))}
    </span>
  );
}
