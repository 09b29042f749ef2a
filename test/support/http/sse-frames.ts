import { collectStream } from '../collect-stream.ts';

/** One server-sent event or comment. */
export interface TestSseFrame {
  id?: number;
  comment?: string;
  data?: any;
}

function parse(block: string): TestSseFrame {
  const frame: TestSseFrame = {};
  for (const line of block.split('\n')) {
    if (line.startsWith(':')) frame.comment = line.slice(1).trim();
    else if (line.startsWith('id: ')) frame.id = Number(line.slice(4));
    else if (line.startsWith('data: ')) frame.data = JSON.parse(line.slice(6));
    else throw new Error(`Invalid line in event stream: ${line}`);
  }
  return frame;
}

/** Parses the SSE frames of a response as they arrive; reads only as far as frames are consumed. */
export async function* streamSseFrames(response: Response): AsyncGenerator<TestSseFrame> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    throw new Error(`Expected an event stream, got ${response.status} ${await response.text()}`);
  }
  yield* parseSseFrames(response.body as unknown as AsyncIterable<Uint8Array>);
}

/** Parses SSE frames as their bytes arrive. */
export async function* parseSseFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<TestSseFrame> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield parse(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
  if (text !== '') throw new Error(`The stream ended within a frame: ${text}`);
}

/** Reads all SSE frames of a response. */
export async function readSseFrames(response: Response): Promise<TestSseFrame[]> {
  return collectStream(streamSseFrames(response));
}
