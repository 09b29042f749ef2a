import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const key = 'dragoman-traffic-split';
const minPercent = 20;
const maxPercent = 80;

/** Height of the diagram in percent while a record is open. */
const share = signal(bounded(Number(localStorage.getItem(key) ?? 50)));

function bounded(percent: number): number {
  return Number.isFinite(percent) ? Math.min(maxPercent, Math.max(minPercent, Math.round(percent))) : 50;
}

function move(percent: number): void {
  share.value = bounded(percent);
  localStorage.setItem(key, String(share.value));
}

/** The splitter between diagram and record; it can be dragged and moved with arrow keys. */
export function Splitter() {
  useEffect(() => {
    document.querySelector<HTMLElement>('.traffic-split')?.style.setProperty('--share', `${share.value}fr`);
    document
      .querySelector<HTMLElement>('.traffic-split')
      ?.style.setProperty('--rest', `${100 - share.value}fr`);
  }, [share.value]);
  return (
    <div
      class="traffic-splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label="Height of the diagram"
      aria-valuenow={share.value}
      aria-valuemin={minPercent}
      aria-valuemax={maxPercent}
      onKeyDown={(event) => {
        const step = { ArrowUp: -5, ArrowDown: 5 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        move(share.value + step);
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        const line = event.currentTarget;
        const room = line.parentElement?.getBoundingClientRect();
        if (!room || !line.hasPointerCapture(event.pointerId)) return;
        move(((event.clientY - room.top) / room.height) * 100);
      }}
    />
  );
}
