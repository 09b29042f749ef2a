/**
 * Replaces the Node server in bundles for browsers and workers; see `imports` in package.json.
 *
 * @module
 */
import { A2AError } from '../../protocol/errors.ts';

async function refuseToListen(): Promise<never> {
  throw new A2AError('UNSUPPORTED_OPERATION', 'serve() requires Node', {
    hint: 'Use toFetchHandler() in this runtime.',
  });
}

export { refuseToListen as listen };
