import type { ComponentChildren } from 'preact';
import './notes.css';

interface EmptyStateProps {
  title: string;
  /** What would fill this place. */
  children?: ComponentChildren;
  actions?: ComponentChildren;
}

/** Stands where nothing is yet, and says what would be. */
export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children === undefined ? null : <div>{children}</div>}
      {actions === undefined ? null : <div class="empty-actions">{actions}</div>}
    </div>
  );
}
