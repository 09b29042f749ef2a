/** The view of conformance. */
export function ConformanceView() {
  return <p>…</p>;
}
