import { expect, it } from 'vitest';
import { runNode } from '../support/cli/run-command.ts';

// V8 stops to optimize expressions in a process with much code. Then also simple repetitions fill its stack.
it('redacts texts of many million characters if the engine does not optimize expressions', async () => {
  const redaction = new URL('../../dist/primitives/redaction/redaction.js', import.meta.url).href;
  const script = `import { Redactor } from ${JSON.stringify(redaction)};
    const redactor = new Redactor();
    for (const unit of ['x', '-', 'eyJhbGciOi.', 'sk-', 'Bearer '])
      redactor.redactText(unit.repeat(5_000_000 / unit.length));
    console.log('redacted');`;
  const { stdout, stderr } = await runNode(['--no-regexp-optimization', '--input-type=module', '-e', script])
    .ended;
  expect(stderr).toBe('');
  expect(stdout).toBe('redacted\n');
});
