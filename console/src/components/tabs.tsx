import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import './tabs.css';

/** A tab with its panel. */
interface Tab {
  readonly id: string;
  readonly title: ComponentChildren;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  /** Id of the selected tab. */
  open: string;
  onOpen: (id: string) => void;
  /** Content of the selected tab. */
  children: ComponentChildren;
}

const steps: { readonly [key: string]: number } = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 };

/** Tabs; arrow keys select the previous or next one. */
export function Tabs({ label, tabs, open, onOpen, children }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const step = (event: KeyboardEvent) => {
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const now = tabs.findIndex((tab) => tab.id === open);
    const next = Math.min(tabs.length - 1, Math.max(0, now + by));
    const tab = tabs[next];
    if (!tab) return;
    onOpen(tab.id);
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={step}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === open}
            aria-controls={tab.id === open ? `${id}-panel` : undefined}
            tabIndex={tab.id === open ? 0 : -1}
            onClick={() => onOpen(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${open}`}>
        {children}
      </div>
    </>
  );
}
