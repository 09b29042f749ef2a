/** The view of wire. */
export function WireView() {
  return <p>…</p>;
}
