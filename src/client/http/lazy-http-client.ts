import { clientClosedError, type HttpClient, type HttpRequest, type HttpResponse } from './http-client.ts';

/** Creates an HTTP client that loads its driver with the first request. */
export function lazyHttpClient(load: () => Promise<HttpClient>): HttpClient {
  let client: HttpClient | undefined;
  let loading: Promise<HttpClient> | undefined;
  let isClosed = false;
  async function loadAndRequest(request: HttpRequest): Promise<HttpResponse> {
    if (!isClosed) client = await (loading ??= load());
    if (!client || isClosed) throw clientClosedError();
    return client.request(request);
  }
  return {
    request: (request) => (client ? client.request(request) : loadAndRequest(request)),
    async supportsHttp2() {
      if (isClosed) throw clientClosedError();
      client = await (loading ??= load());
      return client.supportsHttp2?.() ?? false;
    },
    async close() {
      isClosed = true;
      // A driver that could not be loaded has nothing to close.
      const loaded = await loading?.catch(() => undefined);
      await loaded?.close();
    },
  };
}
