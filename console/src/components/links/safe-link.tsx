import type { ComponentChildren } from 'preact';
import { isSafeHref } from './safe-href.ts';

/** A link to somewhere an agent named; plain text where it is not safe to follow. */
export function SafeLink({ href, children }: { href: string; children?: ComponentChildren }) {
  if (!isSafeHref(href)) return <span>{children ?? href}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children ?? href}
    </a>
  );
}
