/** One server-sent event, or a comment. */
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
    else throw new Error(`This is no line of an event stream: ${line}`);
  }
  return frame;
}

/** Reads the frames of a stream as they come, and nothing beyond the frame that was asked for. */
export async function* streamSseFrames(response: Response): AsyncGenerator<TestSseFrame> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    throw new Error(`This is no event stream but ${response.status} ${await response.text()}`);
  }
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield parse(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
  if (text !== '') throw new Error(`The stream ended within a frame: ${text}`);
}

/** Reads a stream to its end. */
export async function readSseFrames(response: Response): Promise<TestSseFrame[]> {
  const all: TestSseFrame[] = [];
  for await (const frame of streamSseFrames(response)) all.push(frame);
  return all;
}
