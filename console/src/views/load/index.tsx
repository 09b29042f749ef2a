/** The view of load. */
export function LoadView() {
  return <p>…</p>;
}
