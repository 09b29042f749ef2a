// Vitest reporter that sends the progress of a run to run-steps.mjs over IPC.
import { relative } from 'node:path';

const send = (message) => process.send?.(message);
const nameOf = ({ moduleId }) => relative(process.cwd(), moduleId);

export default class IpcReporter {
  onTestRunStart(files) {
    send({ type: 'start', files: files.length });
  }

  onTestModuleQueued(module) {
    send({ type: 'file-start', file: nameOf(module) });
  }

  onTestModuleEnd(module) {
    const titles = { passed: [], failed: [], skipped: [], pending: [] };
    const reasons = [];
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      titles[state].push(test.fullName);
      if (state === 'failed') reasons.push(`${test.fullName}: ${errors[0]?.message}`);
    }
    // A file that cannot be imported, or whose hooks fail, has an error outside of its tests.
    const hasOwnError = module.state() === 'failed' && titles.failed.length === 0;
    if (hasOwnError) reasons.push(...module.errors().map(({ message }) => message));
    send({
      type: 'file-end',
      file: nameOf(module),
      milliseconds: module.diagnostic().duration + module.diagnostic().collectDuration,
      passed: titles.passed.length,
      failed: hasOwnError ? ['(outside of a test)'] : titles.failed,
      skipped: [...titles.skipped, ...titles.pending],
      reasons,
    });
  }

  onUserConsoleLog({ content }) {
    for (const [, reason] of content.matchAll(/^skipped: (.+)$/gm)) send({ type: 'skip-reason', reason });
  }

  onTestRunEnd(_modules, errors) {
    send({ type: 'end', errors: errors.length });
  }
}
