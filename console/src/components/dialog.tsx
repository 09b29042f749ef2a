import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import './dialog.css';

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog; Escape and a click outside close it, and the focus returns to its previous element. */
export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      {isOpen ? (
        <>
          <div class="dialog-bar">
            <h2 id={id}>{title}</h2>
            <Button small kind="quiet" onClick={onClose}>
              Close
            </Button>
          </div>
          <div class="dialog-body">{children}</div>
        </>
      ) : null}
    </dialog>
  );
}
