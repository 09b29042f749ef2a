import { signal } from '@preact/signals';

/** The views, in the order of their tabs. */
export const views = ['agents', 'chat', 'wire', 'tasks', 'conformance', 'load'] as const;

/** The name of a view. */
export type View = (typeof views)[number];

/** Where the person is: `#wire?trip=7` is the view `wire` with the detail `trip`. */
export interface Place {
  readonly view: View;
  readonly details: URLSearchParams;
}

function read(): Place {
  const [name = '', query = ''] = location.hash.slice(1).split('?');
  return {
    view: views.find((each) => each === name) ?? 'agents',
    details: new URLSearchParams(query),
  };
}

/** Where the person is now. */
export const place = signal<Place>(read());

addEventListener('hashchange', () => {
  place.value = read();
});

/** Goes to a view. */
export function go(view: View, details: Readonly<Record<string, string>> = {}): void {
  const query = new URLSearchParams(details).toString();
  location.hash = query === '' ? view : `${view}?${query}`;
}
