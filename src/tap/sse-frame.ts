/** One server-sent event. */
export interface SseFrame {
  readonly data: string;
  readonly event?: string | undefined;
  readonly id?: string | undefined;
}

/** Formats a server-sent event without the trailing empty line. */
export function formatSseFrame({ data, event, id }: SseFrame): string {
  const lines = data.split('\n').map((line) => `data: ${line}`);
  if (event !== undefined) lines.unshift(`event: ${event}`);
  if (id !== undefined) lines.unshift(`id: ${id}`);
  return lines.join('\n');
}

/** Parses one server-sent event without the trailing empty line. */
export function parseSseFrame(text: string): SseFrame {
  const data: string[] = [];
  const fields: { event?: string; id?: string } = {};
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event' || name === 'id') fields[name] = value;
  }
  return { data: data.join('\n'), ...fields };
}
