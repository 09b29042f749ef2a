/** Returns why the tap cannot reach the agent, and what to do. */
export function describeConnectionError(error: NodeJS.ErrnoException): string {
  const { code, message } = error;
  if (code === 'ECONNREFUSED') return 'connection refused (ECONNREFUSED). Is the agent running?';
  if (code === 'ENOTFOUND') return 'host not found (ENOTFOUND). Check the URL.';
  if (code === 'HTTP2_NOT_SUPPORTED' || code === 'HTTP2_NOT_NEGOTIATED')
    return 'the server does not speak HTTP/2, which gRPC needs. Check the address of the gRPC interface in the card.';
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
