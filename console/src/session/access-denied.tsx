import { CodeBlock } from '../components/code-block.tsx';

/** Replaces the page if the token is missing or wrong, with instructions. */
export function AccessDenied() {
  return (
    <main class="denied">
      <img src="icon.svg" alt="" />
      <h1>Access token missing or invalid</h1>
      <p>
        Open the URL that the console printed at its start. It ends with <code>?token=…</code>. The token is
        stored for one tab and changes at each start.
      </p>
      <p>Copy the URL from the terminal, or start the console again:</p>
      <CodeBlock label="Terminal" text="npx dragoman console" />
    </main>
  );
}
