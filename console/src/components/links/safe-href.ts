const maxLength = 4096;

/**
 * Returns true for absolute http and https URLs. Other URLs of agents (`javascript:`, `data:`, `file:`, relative paths)
 * are displayed as text.
 */
export function isSafeHref(href: string): boolean {
  if (href.length > maxLength || !/^https?:\/\//i.test(href)) return false;
  try {
    const { protocol, username, password } = new URL(href);
    // Credentials before the host can disguise the destination.
    return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
  } catch {
    return false;
  }
}
