import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import './file-picker.css';

interface FilePickerProps {
  label: string;
  onFiles: (files: readonly File[]) => void;
  /** Accepted extension, such as `.json`. */
  accept?: string;
  multiple?: boolean;
  disabled?: boolean;
}

/** A button that opens a file dialog. */
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
          // Allows selecting the same file again.
          event.currentTarget.value = '';
        }}
      />
    </span>
  );
}

/** A drop zone for files. */
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
