import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import './button.css';

/** What a button looks like: the one thing to do here, a quiet one, one that destroys. */
type ButtonKind = 'plain' | 'main' | 'quiet' | 'danger';

interface ButtonProps extends ButtonHTMLAttributes {
  kind?: ButtonKind;
  small?: boolean;
  children: ComponentChildren;
}

const classOf = (kind: ButtonKind, small: boolean): string =>
  `button button-${kind}${small ? ' button-small' : ''}`;

/** A button; everything a `<button>` takes goes through. */
export function Button({ kind = 'plain', small = false, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} class={classOf(kind, small)}>
      {children}
    </button>
  );
}

interface LinkButtonProps {
  href: string;
  kind?: ButtonKind;
  small?: boolean;
  children: ComponentChildren;
}

/** A link within the page that looks like a button. */
export function LinkButton({ href, kind = 'plain', small = false, children }: LinkButtonProps) {
  return (
    <a href={href} class={classOf(kind, small)}>
      {children}
    </a>
  );
}
