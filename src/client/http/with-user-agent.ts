import type { HttpClient } from './http-client.ts';

/** Wraps an HTTP client to send another `User-Agent` header. */
export function withUserAgent(http: HttpClient, product: string): HttpClient {
  return {
    request: (request) =>
      http.request({ ...request, headers: { ...request.headers, 'user-agent': product } }),
    supportsHttp2: () => http.supportsHttp2?.() ?? false,
    close: () => http.close(),
  };
}
