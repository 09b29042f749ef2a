/** What was written, laid out for reading. */
export interface PrettyText {
  readonly text: string;
  /** Whether it was JSON, alone or in the lines of a server-sent event. */
  readonly isJson: boolean;
}

/** Lays out JSON, also inside the `data:` of a server-sent event; everything else stays as it is. */
export function prettyPrint(text: string): PrettyText {
  const whole = indented(text);
  if (whole !== undefined) return { text: whole, isJson: true };
  const lines = text.split('\n');
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
  const inside = data.length === 0 ? undefined : indented(data.join('\n'));
  if (inside === undefined) return { text, isJson: false };
  const others = lines.filter((line) => !line.startsWith('data:') && line.trim() !== '');
  return { text: [...others, 'data:', inside].join('\n'), isJson: true };
}

function indented(text: string): string | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Cut off, or never was JSON: it is shown as it was written.
    return undefined;
  }
}
