import { Agent, type Dispatcher, request as requestOver } from 'undici';
import { parseSseFrames } from '../../support/http/sse-frames.ts';
import { ChaosRequestError, type ChaosClient, type SeenEvent, type SeenTask } from './chaos-client.ts';
import { readWireEvent, readWireTask, type WireRequest, type WireVariant } from './wire-variants.ts';

/** Milliseconds after which a client gives a request up and repeats it: a suspended replica accepts connections. */
export const requestTimeout = 6_000;

/** Returns the URL of any replica. */
export type ChooseReplica = () => string;

// oxlint-disable-next-line no-explicit-any
type Wire = any;

/** JSON-RPC codes and HTTP statuses of requests that a repetition may fix. */
const temporaryCodes = new Set([-32603, -32099, -32098, -32000, 429, 500, 502, 503, 504]);
const notFoundCodes = new Set([-32001, 404]);

function toError(status: number, json: Wire): ChaosRequestError {
  const code = Number(json?.error?.code ?? status);
  return new ChaosRequestError(`${status} ${JSON.stringify(json?.error ?? json)}`, {
    isNotFound: notFoundCodes.has(code),
    isTemporary: temporaryCodes.has(code) || temporaryCodes.has(status),
  });
}

/** Creates a client that writes and reads the wire format itself. */
export function rawClient(variant: WireVariant, choose: ChooseReplica): ChaosClient {
  const http = new Agent({
    headersTimeout: requestTimeout,
    // Between two parts of the body.
    bodyTimeout: requestTimeout,
    connect: { timeout: requestTimeout },
  });

  async function open(request: WireRequest, after?: number): Promise<Dispatcher.ResponseData> {
    const { method, path, body } = request;
    try {
      return await requestOver(`${choose()}${path}`, {
        dispatcher: http,
        method: method as Dispatcher.HttpMethod,
        headers: {
          'content-type': 'application/json',
          ...(variant.version !== '0.1' && { 'a2a-version': variant.version }),
          ...(after !== undefined && { 'last-event-id': String(after) }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw new ChaosRequestError(String(error), { isTemporary: true });
    }
  }

  async function call(request: WireRequest): Promise<SeenTask> {
    const { statusCode, body } = await open(request);
    let json: Wire;
    try {
      json = await body.json();
    } catch (error) {
      throw new ChaosRequestError(`${statusCode} ${String(error)}`, { isTemporary: true });
    }
    if (statusCode >= 300 || json.error) throw toError(statusCode, json);
    return readWireTask(variant.isRpc ? json.result : json);
  }

  async function* follow(request: WireRequest, after?: number): AsyncGenerator<SeenEvent> {
    const { statusCode, headers, body } = await open(request, after);
    try {
      if (!String(headers['content-type']).startsWith('text/event-stream'))
        throw toError(statusCode, await body.json());
      for await (const { id, data } of parseSseFrames(body)) {
        if (data?.error) throw toError(statusCode, data);
        if (id !== undefined && data) yield readWireEvent(variant.isRpc ? data.result : data, id);
      }
    } catch (error) {
      if (error instanceof ChaosRequestError) throw error;
      throw new ChaosRequestError(`The stream broke: ${String(error)}`, { isTemporary: true });
    } finally {
      body.on('error', () => {}).destroy();
    }
  }

  return {
    name: variant.name,
    version: variant.version,
    send: (message) => call(variant.send(message, false)),
    stream: (message) => follow(variant.send(message, true)),
    get: (id) => call(variant.get(id)),
    cancel: (id) => call(variant.cancel(id)),
    subscribe: (id, after) => follow(variant.subscribe(id), after),
    close: () => http.destroy(),
  };
}
