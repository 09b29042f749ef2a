import { describe, expect, it } from 'vitest';
import { createHttpDriver, fetchHttpClient } from './fetch-driver.ts';

describe('fetch driver', () => {
  it('reports a redirect whose target a browser hides', async () => {
    const hidden = Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' });
    const client = fetchHttpClient(async () => hidden);
    await expect(
      client.request({ method: 'GET', origin: 'http://agent.test', path: '/a', headers: {} }),
    ).rejects.toThrow('http://agent.test/a redirects to another URL');
  });

  it('rejects TLS options, which only the driver of Node supports', () => {
    expect(() => createHttpDriver({ connectTimeout: 1, maxConnections: 1, tls: { ca: 'x' } })).toThrow(
      'The option tls of connect() requires Node',
    );
  });
});
