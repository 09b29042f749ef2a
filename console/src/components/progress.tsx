import './notes.css';

/** Indeterminate progress. */
export function Spinner({ label }: { label: string }) {
  return (
    <span class="spinner" role="status">
      {label}
    </span>
  );
}

/** Progress with a known fraction. */
export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return (
    <label class="progress">
      <span>{label}</span>
      <progress value={done} max={Math.max(total, 1)} />
    </label>
  );
}
