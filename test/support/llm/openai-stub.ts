import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server with the API for chat completions of OpenAI that streams one reply. */
export interface OpenAiStub {
  readonly url: string;
  /** Bodies of the requests. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Starts a stub on a free port of the loopback interface. */
export async function startOpenAiStub(...deltas: string[]): Promise<OpenAiStub> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      requests.push(body);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (choices: object[], more: object = {}): void =>
        void response.write(
          `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'stub', choices, ...more })}\n\n`,
        );
      for (const content of deltas) chunk([{ index: 0, delta: { role: 'assistant', content } }]);
      chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]);
      chunk([], { usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } });
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
