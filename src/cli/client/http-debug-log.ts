import type { HttpClient, HttpRequest, HttpResponse } from '../../client/http/http-client.ts';
import { sanitizeForTerminal } from '../terminal/sanitize.ts';
import { redactedPlaceholder, type Redactor } from '../../primitives/redaction.ts';

/** How much of a body is logged, in characters. */
const most = 20_000;

/** Logs each request and each answer, without secrets. */
export function withHttpDebugLog(
  http: HttpClient,
  secrets: Redactor,
  log: (line: string) => void,
): HttpClient {
  let last = 0;
  return {
    async request(request) {
      const number = ++last;
      const began = performance.now();
      for (const line of requestLines(request, secrets)) log(`${number} > ${line}`);
      try {
        const response = await http.request(request);
        log(`${number} < HTTP ${response.status} after ${Math.round(performance.now() - began)} ms`);
        return loggedResponse(response, (text) => {
          for (const line of shown(text, secrets)) log(`${number} < ${line}`);
        });
      } catch (thrown) {
        log(`${number} ! ${secrets.redactText(thrown instanceof Error ? thrown.message : String(thrown))}`);
        throw thrown;
      }
    },
    close: () => http.close(),
  };
}

function requestLines({ method, origin, path, headers, body }: HttpRequest, secrets: Redactor): string[] {
  return [
    `${method} ${secrets.redactText(withoutQuery(origin + path))}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${secrets.redactHeader(name, value)}`),
    ...(body === undefined ? [] : shown(body, secrets)),
  ];
}

/** A key may travel in the query: names are shown, values of strange ones are not. */
function withoutQuery(url: string): string {
  return url.replaceAll(
    /([?&](?!page|history|status|context|A2A-|include)[^=&]*=)[^&]*/gi,
    `$1${redactedPlaceholder}`,
  );
}

function loggedResponse(response: HttpResponse, tell: (text: string) => void): HttpResponse {
  return {
    status: response.status,
    header: (name) => response.header(name),
    async text(limit) {
      const text = await response.text(limit);
      tell(text);
      return text;
    },
    async *chunks() {
      const decoder = new TextDecoder();
      for await (const bytes of response.chunks()) {
        tell(decoder.decode(bytes, { stream: true }));
        yield bytes;
      }
    },
    discard: () => response.discard(),
  };
}

function shown(text: string, secrets: Redactor): string[] {
  const clean = sanitizeForTerminal(secrets.redactText(text), 'lines').trimEnd();
  const cut =
    clean.length > most ? `${clean.slice(0, most)} … ${clean.length - most} characters more` : clean;
  return cut === '' ? [] : cut.split('\n');
}
