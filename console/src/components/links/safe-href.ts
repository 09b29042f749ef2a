const maxLength = 4096;

/**
 * True for addresses that a link may lead to: http and https, written out. Everything else that an agent calls a link
 * (`javascript:`, `data:`, `file:`, paths of the console itself) stays text.
 */
export function isSafeHref(href: string): boolean {
  if (href.length > maxLength || !/^https?:\/\//i.test(href)) return false;
  try {
    const { protocol, username, password } = new URL(href);
    // A name before the host is how a link looks like it leads elsewhere.
    return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
  } catch {
    return false;
  }
}
