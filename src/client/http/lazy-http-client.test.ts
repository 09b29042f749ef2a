import { describe, expect, it } from 'vitest';
import type { HttpClient, HttpRequest, HttpResponse } from './http-client.ts';
import { lazyHttpClient } from './lazy-http-client.ts';

const request: HttpRequest = { method: 'GET', origin: 'http://agent.test', path: '/', headers: {} };
const response = { status: 200 } as HttpResponse;

describe('lazyHttpClient', () => {
  it('loads its driver once, with the first request', async () => {
    let loads = 0;
    let closes = 0;
    const client = lazyHttpClient(async (): Promise<HttpClient> => {
      loads++;
      return {
        request: async () => response,
        close: async () => {
          closes++;
        },
      };
    });
    expect(loads).toBe(0);
    expect(await Promise.all([client.request(request), client.request(request)])).toEqual([
      response,
      response,
    ]);
    await client.close();
    expect([loads, closes]).toEqual([1, 1]);
  });

  it('loads nothing if it is closed before', async () => {
    const client = lazyHttpClient(() => Promise.reject(new Error('must not be loaded')));
    await client.close();
    await expect(client.request(request)).rejects.toThrow('The client is closed');
  });

  it('reports a driver that cannot be loaded with every request', async () => {
    const client = lazyHttpClient(() => Promise.reject(new Error('no driver')));
    await expect(client.request(request)).rejects.toThrow('no driver');
    await expect(client.request(request)).rejects.toThrow('no driver');
    await client.close();
  });
});
