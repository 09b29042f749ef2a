import type { HttpClient } from './http-client.ts';

/** The same client with another name for those it calls. */
export function withUserAgent(http: HttpClient, product: string): HttpClient {
  return {
    request: (request) =>
      http.request({ ...request, headers: { ...request.headers, 'user-agent': product } }),
    close: () => http.close(),
  };
}
