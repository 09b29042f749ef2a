import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import './form-fields.css';

interface FieldProps {
  label: string;
  /** Help text below the input; not part of its label. */
  hint?: ComponentChildren;
  /** Hides the label visually; screen readers still announce it. */
  isLabelHidden?: boolean;
  children: ComponentChildren;
}

/** A label with its input; inputs have the class `input`. */
function Field({ label, hint, isLabelHidden = false, children }: FieldProps) {
  return (
    <div class="field">
      <label class="field">
        <span class={isLabelHidden ? 'visually-hidden' : 'field-label'}>{label}</span>
        {children}
      </label>
      {hint}
    </div>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  type?: 'text' | 'url' | 'password' | 'search' | 'number';
  placeholder?: string;
  hint?: ComponentChildren;
  required?: boolean;
  isLabelHidden?: boolean;
}

/** A single-line text input. */
export function TextField({
  label,
  value,
  onValue,
  hint,
  isLabelHidden,
  type = 'text',
  ...rest
}: TextFieldProps) {
  const id = useId();
  return (
    <Field
      label={label}
      isLabelHidden={isLabelHidden}
      hint={
        hint === undefined ? undefined : (
          <span class="field-hint" id={id}>
            {hint}
          </span>
        )
      }
    >
      <input
        aria-describedby={hint === undefined ? undefined : id}
        {...rest}
        {...({ type } as object)}
        class="input"
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Field>
  );
}

interface TextAreaProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  rows?: number;
  placeholder?: string;
  isLabelHidden?: boolean;
  /** True for code and JSON. */
  isMono?: boolean;
  /** Why the value is not used. */
  mistake?: string | undefined;
}

/** A text input with several lines. */
export function TextArea({
  label,
  value,
  onValue,
  rows = 3,
  placeholder,
  isLabelHidden,
  isMono = false,
  mistake,
}: TextAreaProps) {
  const id = useId();
  return (
    <Field
      label={label}
      isLabelHidden={isLabelHidden}
      hint={
        mistake === undefined ? undefined : (
          <span class="field-mistake" id={id}>
            {mistake}
          </span>
        )
      }
    >
      <textarea
        class={isMono ? 'input input-mono' : 'input'}
        rows={rows}
        placeholder={placeholder}
        spellcheck={!isMono}
        aria-invalid={mistake === undefined ? undefined : 'true'}
        aria-describedby={mistake === undefined ? undefined : id}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Field>
  );
}

interface SelectProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  choices: readonly { readonly value: string; readonly text: string }[];
  isLabelHidden?: boolean;
  disabled?: boolean;
}

/** A select box. */
export function Select({ label, value, onValue, choices, isLabelHidden, disabled }: SelectProps) {
  return (
    <Field label={label} isLabelHidden={isLabelHidden}>
      <select
        class="input"
        value={value}
        disabled={disabled}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {choices.map((each) => (
          <option key={each.value} value={each.value} selected={each.value === value}>
            {each.text}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface ToggleProps {
  label: string;
  isOn: boolean;
  onTurn: (isOn: boolean) => void;
  disabled?: boolean;
}

/** A checkbox. */
export function Toggle({ label, isOn, onTurn, disabled }: ToggleProps) {
  return (
    <label class="toggle">
      <input
        type="checkbox"
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onTurn(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
