import { accessState } from './access-state.ts';
import { token } from './token.ts';

/** An error response of the console API; its message is for display. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** Options of an API call. */
export interface CallOptions {
  method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged instead of a JSON body. */
  text?: string;
  signal?: AbortSignal;
}

/** Calls the console API; `path` is relative to `api/`, such as `agents`. */
export async function requestApi(
  path: string,
  { method = 'GET', body, text, signal }: CallOptions = {},
): Promise<Response> {
  const response = await fetch(`api/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? (text ?? null) : JSON.stringify(body),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    accessState.value = 'gone';
    throw new ApiError(0, 'NO_RESPONSE', 'The console server does not respond. Check that it is running.');
  });
  if (accessState.value === 'gone') accessState.value = 'open';
  if (response.ok) return response;
  // Agents that require authentication return the same status; only `info` is answered by the console itself.
  if (response.status === 401) {
    if (path === 'info') accessState.value = 'denied';
    else await requestApi('info').catch(() => undefined);
  }
  const content = (await response.json().catch(() => undefined)) as
    | { error?: { reason?: string; message?: string } }
    | undefined;
  throw new ApiError(
    response.status,
    content?.error?.reason ?? `HTTP_${response.status}`,
    content?.error?.message ?? `Unexpected response from the console: HTTP ${response.status}`,
  );
}

/** Requests one JSON document. */
export async function requestJson<Answer>(path: string, options?: CallOptions): Promise<Answer> {
  const response = await requestApi(path, options);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** Requests a stream of JSON documents; leaving the loop closes it. */
export async function* streamJson<Item>(path: string, options?: CallOptions): AsyncGenerator<Item> {
  const { body } = await requestApi(path, options);
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      const frames = rest.split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) if (frame.startsWith('data: ')) yield JSON.parse(frame.slice(6)) as Item;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
