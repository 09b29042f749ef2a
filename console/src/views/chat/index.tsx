/** The view of chat. */
export function ChatView() {
  return <p>…</p>;
}
