import type { HttpClient, HttpRequest, HttpResponse } from '../../client/http/http-client.ts';
import { sanitizeForTerminal } from '../terminal/sanitize.ts';
import { redactedPlaceholder, type Redactor } from '../../primitives/redaction/redaction.ts';

/** Maximum length of a logged body, in characters. */
const maxBodyLength = 20_000;

/** Wraps an HTTP client to log each request and response, with secrets redacted. */
export function withHttpDebugLog(
  http: HttpClient,
  redactor: Redactor,
  log: (line: string) => void,
): HttpClient {
  let count = 0;
  return {
    async request(request) {
      const number = ++count;
      const startTime = performance.now();
      for (const line of formatRequest(request, redactor)) log(`${number} > ${line}`);
      try {
        const response = await http.request(request);
        log(`${number} < HTTP ${response.status} after ${Math.round(performance.now() - startTime)} ms`);
        return loggedResponse(response, (text) => {
          for (const line of formatBody(text, redactor)) log(`${number} < ${line}`);
        });
      } catch (thrown) {
        log(`${number} ! ${redactor.redactText(thrown instanceof Error ? thrown.message : String(thrown))}`);
        throw thrown;
      }
    },
    supportsHttp2: () => http.supportsHttp2?.() ?? false,
    close: () => http.close(),
  };
}

function formatRequest({ method, origin, path, headers, body }: HttpRequest, redactor: Redactor): string[] {
  return [
    `${method} ${redactor.redactText(redactQuery(origin + path))}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${redactor.redactHeader(name, value)}`),
    ...(typeof body === 'object' ? [`${body.length} bytes`] : formatBody(body ?? '', redactor)),
  ];
}

const protocolParameter = /^(?:page|history|status|context|A2A-|include)/i;

/** Redacts the values of query parameters, which may be API keys, except those of A2A. */
function redactQuery(url: string): string {
  return url.replaceAll(/([?&])([^=&?]*)=[^&]*/g, (parameter, mark: string, name: string) =>
    protocolParameter.test(name) ? parameter : `${mark}${name}=${redactedPlaceholder}`,
  );
}

function loggedResponse(response: HttpResponse, onText: (text: string) => void): HttpResponse {
  return {
    status: response.status,
    header: (name) => response.header(name),
    trailer: (name) => response.trailer?.(name),
    async text(limit) {
      const text = await response.text(limit);
      onText(text);
      return text;
    },
    async *chunks() {
      const decoder = new TextDecoder();
      const isBinary = response.header('content-type')?.startsWith('application/grpc');
      for await (const bytes of response.chunks()) {
        onText(isBinary ? `${bytes.length} bytes` : decoder.decode(bytes, { stream: true }));
        yield bytes;
      }
    },
    discard: () => response.discard(),
  };
}

function formatBody(text: string, redactor: Redactor): string[] {
  const body = sanitizeForTerminal(redactor.redactText(text), 'lines').trimEnd();
  const truncated =
    body.length > maxBodyLength
      ? `${body.slice(0, maxBodyLength)} … ${body.length - maxBodyLength} more characters`
      : body;
  return truncated === '' ? [] : truncated.split('\n');
}
