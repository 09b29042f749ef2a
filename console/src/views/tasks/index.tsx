import { useEffect } from 'preact/hooks';
import { Tabs } from '../../components/tabs.tsx';
import { about, chosen } from '../../session/agents.ts';
import { NoAgent } from '../../session/no-agent.tsx';
import { Filters } from './task-filters.tsx';
import { Pushes } from './push-deliveries.tsx';
import { change, detail, filter, loadAnew, openTask, stopFollowing } from './state.ts';
import { TaskDetailView } from './task-detail.tsx';
import { TaskTable } from './task-table.tsx';
import './tasks.css';

/** The view of tasks: those of one agent, and the one that is open. */
export function TasksView() {
  if (!chosen.value) return <NoAgent title="No agent, no tasks" />;
  if (!about.value?.hasPushes) return <Tasks agentId={chosen.value.id} />;
  return (
    <div class="tasks-tabs">
      <Tabs
        label="Tasks and pushes"
        tabs={[
          { id: 'tasks', title: 'Tasks' },
          { id: 'pushes', title: 'Push notifications' },
        ]}
        open={filter.value.isPushes ? 'pushes' : 'tasks'}
        onOpen={(id) => change({ show: id === 'pushes' ? 'pushes' : undefined })}
      >
        {filter.value.isPushes ? <Pushes /> : <Tasks agentId={chosen.value.id} />}
      </Tabs>
    </div>
  );
}

function Tasks({ agentId }: { agentId: string }) {
  const { state, contextId, taskId } = filter.value;
  useEffect(loadAnew, [agentId, state, contextId]);
  useEffect(() => {
    if (taskId === '') detail.value = undefined;
    else void openTask(agentId, taskId);
    return stopFollowing;
  }, [agentId, taskId]);
  return (
    <div class={taskId === '' ? 'tasks' : 'tasks tasks-open'}>
      <section class="tasks-main" aria-label="Tasks">
        <Filters />
        <TaskTable openId={taskId} />
      </section>
      {taskId === '' ? null : <TaskDetailView />}
    </div>
  );
}
