import { CodeBlock } from '../components/code-block.tsx';

/** Stands in place of the page when its token is missing or wrong, and says how to get the address again. */
export function AccessDenied() {
  return (
    <main class="denied">
      <img src="icon.svg" alt="" />
      <h1>This page needs its whole address</h1>
      <p>
        The console lets in only who has the address that it printed when it was started: the one that ends in{' '}
        <code>?token=…</code>. The token is kept for one tab and is new after each start.
      </p>
      <p>Copy the address from the terminal where it runs, or start it again:</p>
      <CodeBlock label="Terminal" text="npx dragoman console" />
    </main>
  );
}
