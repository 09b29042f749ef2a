import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import './file-picker.css';

interface FilePickerProps {
  label: string;
  onFiles: (files: readonly File[]) => void;
  /** Such as `.json`. */
  accept?: string;
  multiple?: boolean;
  disabled?: boolean;
}

/** A button that asks for files. */
export function FilePicker({ label, onFiles, accept, multiple = false, disabled }: FilePickerProps) {
  return (
    <span class="files">
      <span class="button" aria-hidden="true">
        {label}
      </span>
      <input
        type="file"
        aria-label={label}
        accept={accept}
        multiple={multiple}
        disabled={disabled}
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // The same file may be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </span>
  );
}

/** A place onto which files may be dropped. */
export function FileDrop({
  onFiles,
  class: name = '',
  children,
}: {
  onFiles: (files: readonly File[]) => void;
  class?: string;
  children: ComponentChildren;
}) {
  const isOver = useSignal(false);
  return (
    <div
      class={isOver.value ? `${name} drop-over` : name}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      {children}
    </div>
  );
}
