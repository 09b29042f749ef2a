import type { HttpClient } from '../client/http/http.ts';

/**
 * Finds out whether an agent whose card has no mark of any version speaks the oldest one: asks for the method by which
 * all later ones send, without a message, which does no harm where the method is known.
 */
export async function speaksOldest(
  url: string,
  { http, headers, signal }: { http: HttpClient; headers: Record<string, string>; signal: AbortSignal },
): Promise<boolean> {
  const { origin, pathname, search } = new URL(url);
  try {
    const response = await http.request({
      method: 'POST',
      origin,
      path: pathname + search,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {} }),
      signal,
    });
    const answer = JSON.parse(await response.text(64 * 1_024)) as { error?: { code?: unknown } } | null;
    return answer?.error?.code === -32601;
  } catch {
    return false;
  }
}
