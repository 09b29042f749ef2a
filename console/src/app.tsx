import type { ComponentType } from 'preact';
import { place, type View, views } from './session/place.ts';
import { AgentsView } from './views/agents/index.tsx';
import { ChatView } from './views/chat/index.tsx';
import { ConformanceView } from './views/conformance/index.tsx';
import { LoadView } from './views/load/index.tsx';
import { TasksView } from './views/tasks/index.tsx';
import { WireView } from './views/wire/index.tsx';

const pages: { readonly [view in View]: { readonly title: string; readonly Page: ComponentType } } = {
  agents: { title: 'Agents', Page: AgentsView },
  chat: { title: 'Chat', Page: ChatView },
  wire: { title: 'Wire', Page: WireView },
  tasks: { title: 'Tasks', Page: TasksView },
  conformance: { title: 'Conformance', Page: ConformanceView },
  load: { title: 'Load', Page: LoadView },
};

/** The whole page: tabs, and the view that is chosen. */
export function App() {
  const { Page, title } = pages[place.value.view];
  return (
    <>
      <header class="bar">
        <h1 class="brand">Dragoman</h1>
        <nav aria-label="Views">
          {views.map((view) => (
            <a key={view} href={`#${view}`} aria-current={view === place.value.view ? 'page' : undefined}>
              {pages[view].title}
            </a>
          ))}
        </nav>
      </header>
      <main aria-label={title}>
        <Page />
      </main>
    </>
  );
}
