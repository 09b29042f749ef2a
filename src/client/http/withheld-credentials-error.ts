/** The cause of errors of agents that require credentials, which the caller does not allow at their origin. */
export class WithheldCredentialsError extends Error {
  override readonly name = 'WithheldCredentialsError';
}
