import { A2AError } from '../../../protocol/errors.ts';

/** Converts an error of the NATS library to an error with a hint. */
export function explainNatsError(error: unknown, url: string): A2AError {
  if (error instanceof A2AError) return error;
  const { protocol, host } = new URL(url);
  const address = `${protocol}//${host}`;
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  if (/authoriz|authentic/i.test(`${name} ${message}`))
    return new A2AError('UNAUTHENTICATED', `The server at ${address} rejected the credentials`, {
      cause: error,
      hint: 'Check `username` and `password`, or `token`.',
    });
  const text = `${name} ${message}`;
  if (/JetStreamNotEnabled/i.test(text) || (/jetstream/i.test(text) && /not enabled/i.test(text)))
    return new A2AError('UNSUPPORTED_OPERATION', `The server at ${address} does not support JetStream`, {
      cause: error,
      hint: 'Start nats-server with -js, or with a `jetstream` block in its configuration.',
    });
  if (/JetStream/.test(name))
    return new A2AError(
      'PERMISSION_DENIED',
      `The server at ${address} rejected a JetStream request: ${message}`,
      {
        cause: error,
        hint: 'Check the permissions of the user for streams and consumers.',
      },
    );
  return new A2AError('UNAVAILABLE', `The server at ${address} cannot be reached`, {
    cause: error,
    hint: 'Check that the server runs and that host and port of the URL are correct.',
  });
}
