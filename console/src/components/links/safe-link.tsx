import type { ComponentChildren } from 'preact';
import { isSafeHref } from './safe-href.ts';

/** A link to a URL of an agent; plain text if it is not safe. */
export function SafeLink({ href, children }: { href: string; children?: ComponentChildren }) {
  if (!isSafeHref(href)) return <span>{children ?? href}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children ?? href}
    </a>
  );
}
