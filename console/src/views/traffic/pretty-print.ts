/** Text formatted for reading. */
export interface PrettyText {
  readonly text: string;
  /** True if it was JSON, alone or in SSE data lines. */
  readonly isJson: boolean;
}

/** Formats JSON, also in SSE data lines; other text is unchanged. */
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
    // Truncated or not JSON: shown unchanged.
    return undefined;
  }
}
