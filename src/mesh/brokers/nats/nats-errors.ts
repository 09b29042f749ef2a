import { A2AError } from '../../../protocol/errors.ts';

/** Says what a person can do about an error of the library. */
export function explainNatsError(error: unknown, url: string): A2AError {
  if (error instanceof A2AError) return error;
  const { protocol, host } = new URL(url);
  const where = `${protocol}//${host}`;
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  if (/authoriz|authentic/i.test(`${name} ${message}`))
    return new A2AError('UNAUTHENTICATED', `The server at ${where} refused the credentials`, {
      cause: error,
      hint: 'Check `username` and `password`, or `token`.',
    });
  if (/jetstream.*not enabled|JetStreamNotEnabled/i.test(`${name} ${message}`))
    return new A2AError('UNSUPPORTED_OPERATION', `The server at ${where} has no JetStream`, {
      cause: error,
      hint: 'Start nats-server with -js, or with a `jetstream` block in its configuration.',
    });
  if (/JetStream/.test(name))
    return new A2AError('PERMISSION_DENIED', `The server at ${where} did not do what was asked: ${message}`, {
      cause: error,
      hint: 'Check what the user may do with streams and consumers.',
    });
  return new A2AError('UNAVAILABLE', `The server at ${where} cannot be reached`, {
    cause: error,
    hint: 'Check that the server runs and that host and port of the URL are right.',
  });
}
