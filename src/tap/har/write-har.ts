import { packageVersion } from '../../primitives/node/package-version.ts';
import { groupExchanges, type TrafficExchange } from '../exchanges.ts';
import type { HttpMessageInfo, TrafficRecord } from '../traffic-record.ts';
import type { Har, HarEntry } from './har-schema.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/**
 * Formats recorded HTTP exchanges as an HTTP archive (HAR 1.2), which browsers open. A stream is one body of server-sent
 * events; messages of gRPC are ProtoJSON. Mesh messages have no HTTP exchange and are left out.
 */
export function formatHar(records: readonly TrafficRecord[]): string {
  const har: Har = {
    log: {
      version: '1.2',
      creator: { name: 'dragoman', version: packageVersion() },
      entries: groupExchanges(records).flatMap(toEntry),
    },
  };
  return `${JSON.stringify(har, undefined, 1)}\n`;
}

function toEntry([request, ...answers]: TrafficExchange): HarEntry[] {
  if (!request.http) return [];
  const response = answers.find(({ kind }) => kind === 'response');
  const frames = answers.filter(({ kind }) => kind === 'frame');
  const end = answers.find(({ kind }) => kind === 'end');
  const last = answers.at(-1)?.at ?? request.at;
  const wait = Math.max(0, (response?.at ?? last) - request.at);
  const reason = end?.decoded?.isError === true || !response ? end?.text : undefined;
  return [
    {
      startedDateTime: new Date(request.at).toISOString(),
      time: Math.max(0, last - request.at),
      request: toRequest(request, request.http),
      response: toResponse(response, frames),
      cache: {},
      timings: { send: 0, wait, receive: Math.max(0, last - request.at - wait) },
      ...(reason !== undefined && { _error: reason }),
      _exchange: {
        from: request.from.slice(0, 200),
        to: request.to.slice(0, 200),
        ...(frames.length > 0 && { frames: frames.map(({ at }) => Math.max(0, at - request.at)) }),
        ...(reason !== undefined && { end: reason.slice(0, 4_096) }),
      },
    },
  ];
}

function toRequest({ text }: TrafficRecord, { method, url, headers }: HttpMessageInfo): HarEntry['request'] {
  const mimeType = readableType(headers['content-type']);
  return {
    method,
    url,
    httpVersion: versionOf(headers['content-type']),
    cookies: [],
    headers: toPairs(headers),
    queryString: [...(parseUrl(url)?.searchParams ?? [])].map(([name, value]) => ({ name, value })),
    ...(text !== '' && { postData: { mimeType, text } }),
    headersSize: -1,
    bodySize: Buffer.byteLength(text),
  };
}

function toResponse(
  response: TrafficRecord | undefined,
  frames: readonly TrafficRecord[],
): HarEntry['response'] {
  const { status = 0, headers = {} } = response?.http ?? {};
  const isStream = frames.length > 0;
  const text = isStream ? frames.map((each) => `${each.text}\n\n`).join('') : (response?.text ?? '');
  return {
    status,
    statusText: '',
    httpVersion: versionOf(headers['content-type']),
    cookies: [],
    headers: toPairs(headers),
    content: {
      size: Buffer.byteLength(text),
      mimeType: isStream ? 'text/event-stream' : readableType(headers['content-type']),
      ...(text !== '' && { text }),
    },
    redirectURL: headers.location ?? '',
    headersSize: -1,
    bodySize: response ? Buffer.byteLength(text) : -1,
  };
}

const isGrpc = (type: string | undefined): boolean => /^application\/grpc\b/i.test(type ?? '');

const versionOf = (type: string | undefined): string => (isGrpc(type) ? 'HTTP/2' : 'HTTP/1.1');

/** Messages of gRPC are recorded as JSON. */
const readableType = (type: string | undefined): string =>
  isGrpc(type) ? 'application/json' : (type ?? 'application/octet-stream');

const toPairs = (headers: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));
