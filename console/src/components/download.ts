/** Creates a safe file name from an untrusted name: no folders, no control characters, limited length. */
export function safeFileName(name: string): string {
  const clean = Array.from(name.slice(-120), (letter) =>
    letter < ' ' || '\u007f/\\:*?"<>|'.includes(letter) ? '_' : letter,
  )
    .join('')
    .replace(/^[.\s]+/, '');
  return clean === '' ? 'download' : clean;
}

/** Downloads bytes as a file. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = safeFileName(name);
  link.click();
  // The browser reads the bytes after the click; one minute allows for slow disks.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
