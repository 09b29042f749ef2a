import { signal } from '@preact/signals';

/** The views in the order of their tabs. */
export const views = [
  'agents',
  'catalog',
  'chat',
  'requests',
  'traffic',
  'tasks',
  'conformance',
  'load',
] as const;

export type View = (typeof views)[number];

/** A location in the page: `#traffic?exchange=7` is the view `traffic` with the parameter `exchange`. */
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

/** The current location. */
export const currentRoute = signal<ViewRoute>(read());

addEventListener('hashchange', () => {
  currentRoute.value = read();
});

/** Parameters of a location; undefined ones are omitted. */
export type RouteParams = Readonly<Record<string, string | undefined>>;

/** The URL of a location, for links. */
export function routeHref(view: View, details: RouteParams = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(details)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? `#${view}` : `#${view}?${query}`;
}

/** Changes the current location without a step in the history of the browser. */
export function replaceRoute(view: View, details: RouteParams = {}): void {
  location.replace(routeHref(view, details));
}

/** Navigates to a view. */
export function navigate(view: View, details: RouteParams = {}): void {
  location.hash = routeHref(view, details);
}
