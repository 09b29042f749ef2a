/** The view of agents. */
export function AgentsView() {
  return <p>…</p>;
}
