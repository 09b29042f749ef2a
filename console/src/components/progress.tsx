import './notes.css';

/** Something is going on, nobody knows for how long. */
export function Spinner({ label }: { label: string }) {
  return (
    <span class="spinner" role="status">
      {label}
    </span>
  );
}

/** Something is going on, and this much of it is done. */
export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return (
    <label class="progress">
      <span>{label}</span>
      <progress value={done} max={Math.max(total, 1)} />
    </label>
  );
}
