import { signal } from '@preact/signals';

/** The views, in the order of their tabs. */
export const views = ['agents', 'chat', 'wire', 'tasks', 'conformance', 'load'] as const;

/** The name of a view. */
export type View = (typeof views)[number];

/** Where the person is: `#wire?trip=7` is the view `wire` with the detail `trip`. */
export interface ViewRoute {
  readonly view: View;
  readonly details: URLSearchParams;
}

function read(): ViewRoute {
  const [name = '', query = ''] = location.hash.slice(1).split('?');
  return {
    view: views.find((each) => each === name) ?? 'agents',
    details: new URLSearchParams(query),
  };
}

/** Where the person is now. */
export const currentRoute = signal<ViewRoute>(read());

addEventListener('hashchange', () => {
  currentRoute.value = read();
});

/** What a place says beside its view; a detail that is undefined is left out. */
export type RouteParams = Readonly<Record<string, string | undefined>>;

/** The address of a place within the page, for links. */
export function routeHref(view: View, details: RouteParams = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(details)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? `#${view}` : `#${view}?${query}`;
}

/** Goes to a view. */
export function navigate(view: View, details: RouteParams = {}): void {
  location.hash = routeHref(view, details);
}
