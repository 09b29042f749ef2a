/** The view of tasks. */
export function TasksView() {
  return <p>…</p>;
}
