import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const cwd = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Runs client.mjs with an adapter on the second core. Returns the figures of `send` and `stream100`. */
export async function runClient(adapter, url, more = []) {
  const options = ['--adapter', `clients/${adapter}.mjs`, '--url', url, '--scenario', 'send,stream100'];
  const args = ['-c', '1', 'node', 'client.mjs', ...options, '--conc', '16', ...more];
  const { stdout, stderr } = await promisify(execFile)('taskset', args, { cwd }).catch((error) => error);
  try {
    const { scenarios } = JSON.parse(stdout);
    return Object.fromEntries(Object.entries(scenarios).map(([name, [one]]) => [name, one]));
  } catch {
    throw new Error(`${adapter}: ${stderr || stdout}`);
  }
}
