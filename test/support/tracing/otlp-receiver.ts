import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { Collector } from '../collector.ts';

/** A span that a collector has received. */
export interface ReceivedSpan {
  name: string;
  traceId: string;
  service: string | undefined;
}

/** A metric that a collector has received. */
export interface ReceivedMetric {
  name: string;
  unit: string;
  kind: 'gauge' | 'sum' | 'histogram';
  /** Attributes of each point, with its value, or the count of its histogram. */
  points: { attributes: Record<string, string>; value: number; bounds?: number[] }[];
  service: string | undefined;
}

/** A small OpenTelemetry collector: receives OTLP over HTTP with protocol buffers and keeps what it receives. */
export class OtlpReceiver {
  readonly spans = new Collector<ReceivedSpan>();
  readonly metrics = new Collector<ReceivedMetric>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
        receiver.#receive(request.url ?? '', fieldsOf(body));
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    const receiver = new OtlpReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #receive(path: string, request: Fields): void {
    for (const group of request.messages(1)) {
      const service = attributesOf(group.messages(1)[0], 1)['service.name'];
      for (const item of group.messages(2).flatMap((scope) => scope.messages(2))) {
        if (path === '/v1/traces')
          this.spans.add({ name: item.text(5), traceId: item.bytes(1).toString('hex'), service });
        else if (path === '/v1/metrics') this.metrics.add({ ...metricOf(item), service });
        else throw new Error(`unexpected path ${path}`);
      }
    }
  }
}

function metricOf(metric: Fields): Omit<ReceivedMetric, 'service'> {
  const named = { name: metric.text(1), unit: metric.text(3) };
  const [histogram] = metric.messages(9);
  if (histogram) {
    const points = histogram.messages(1).map((point) => ({
      attributes: attributesOf(point, 9),
      value: Number(point.bytes(4).readBigUInt64LE()),
      bounds: doublesOf(point.bytes(7)),
    }));
    return { ...named, kind: 'histogram', points };
  }
  const [sum] = metric.messages(7);
  const points = (sum ?? metric.messages(5)[0])?.messages(1).map((point) => ({
    attributes: attributesOf(point, 7),
    value: point.bytes(4).readDoubleLE(),
  }));
  return { ...named, kind: sum ? 'sum' : 'gauge', points: points ?? [] };
}

function attributesOf(parent: Fields | undefined, field: number): Record<string, string> {
  const pairs = parent?.messages(field).map((pair) => [pair.text(1), pair.messages(2)[0]?.text(1) ?? '']);
  return Object.fromEntries(pairs ?? []);
}

function doublesOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
}

/** Fields of a message of protocol buffers by number. Fields of 32 and 64 bits are kept as bytes. */
class Fields {
  readonly #values = new Map<number, Buffer[]>();

  add(field: number, value: Buffer): void {
    this.#values.set(field, [...(this.#values.get(field) ?? []), value]);
  }

  bytes(field: number): Buffer {
    return this.#values.get(field)?.[0] ?? Buffer.alloc(0);
  }

  text(field: number): string {
    return this.bytes(field).toString();
  }

  messages(field: number): Fields[] {
    return (this.#values.get(field) ?? []).map(fieldsOf);
  }
}

function fieldsOf(bytes: Buffer): Fields {
  const fields = new Fields();
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const [field, type] = [tag >>> 3, tag & 7];
    if (type === 0) {
      readVarint();
      continue;
    }
    const lengths: { [type: number]: number } = { 1: 8, 5: 4 };
    const length = lengths[type] ?? readVarint();
    fields.add(field, bytes.subarray(at, at + length));
    at += length;
  }
  return fields;
}
