/** Makes a file name of what an agent calls something: no folders, no control characters, not too long. */
export function safeFileName(name: string): string {
  const clean = Array.from(name.slice(-120), (letter) =>
    letter < ' ' || '\u007f/\\:*?"<>|'.includes(letter) ? '_' : letter,
  )
    .join('')
    .replace(/^[.\s]+/, '');
  return clean === '' ? 'download' : clean;
}

/** Lets the person save bytes as a file. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = safeFileName(name);
  link.click();
  // The browser has taken hold of the bytes once the click is over; a minute is for slow disks.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
